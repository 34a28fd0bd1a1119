// Seeing code objects that `exec` and `eval` are about to run: by that door come modules, whatever finds and loads
// them, cells of notebooks, and the programs that other tools run. The two builtins stay the objects they are; what
// they are given and what they say of errors stays as it is.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// One call of a builtin, waiting to be made.
class Execution {
 public:
  Execution(PyObject* const* arguments, Py_ssize_t count, PyObject* (*run)(PyObject* const*, Py_ssize_t))
      : arguments_(arguments), count_(count), run_(run) {}

  [[nodiscard]] PyCodeObject* code() const { return reinterpret_cast<PyCodeObject*>(arguments_[0]); }
  // The dict it runs in, or something that the builtin will refuse; borrowed.
  [[nodiscard]] PyObject* globals() const;
  // Makes the call, with this code in place of its own. A new reference, or null with an exception set.
  PyObject* run(PyCodeObject* code) const;

 private:
  PyObject* const* arguments_;
  Py_ssize_t count_;
  PyObject* (*run_)(PyObject* const*, Py_ssize_t);
};

// Is called with the GIL, in the main interpreter, and returns what Execution::run gave back.
using ExecutionHandler = PyObject* (*)(const Execution& execution);

// Calls of these builtins with a code object go to `handler` from now on, but for those with keywords. Throws
// InternalError where the builtins are not as expected, PythonError where there are none.
void watch_executions(ExecutionHandler handler);

}  // namespace tagalong::cpython
