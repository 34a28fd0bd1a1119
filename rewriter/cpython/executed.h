// Watching the code objects that `exec` and `eval` run: modules (whatever loader finds them), cells of notebooks, and
// programs that other tools run all come through these builtins. The two builtins keep their identity, arguments and
// error messages.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// One call of a builtin that has not been made yet.
class Execution {
 public:
  Execution(PyObject* const* arguments, Py_ssize_t count, PyObject* (*run)(PyObject* const*, Py_ssize_t))
      : arguments_(arguments), count_(count), run_(run) {}

  [[nodiscard]] PyCodeObject* code() const { return reinterpret_cast<PyCodeObject*>(arguments_[0]); }
  // The dict that the code runs in, or an object that the builtin will refuse; borrowed.
  [[nodiscard]] PyObject* globals() const;
  // Makes the call, with this code instead of the given one. A new reference, or null with an exception set.
  PyObject* run(PyCodeObject* code) const;

 private:
  PyObject* const* arguments_;
  Py_ssize_t count_;
  PyObject* (*run_)(PyObject* const*, Py_ssize_t);
};

// Called with the GIL, in the main interpreter; returns the result of Execution::run.
using ExecutionHandler = PyObject* (*)(const Execution& execution);

// Sends calls of these builtins with a code object to `handler`, except calls with keywords. Throws InternalError where
// the builtins are not as expected, PythonError where they are missing.
void watch_executions(ExecutionHandler handler);

}  // namespace tagalong::cpython
