// Changes code objects when `exec` and `eval` run them: bodies of modules from any loader, cells of notebooks, scripts
// that a tool runs. A callback decides. It is not called for bodies that make no functions and have no loops. A code
// object that is executed often, each time for less time than the change takes, runs unchanged from the fifth time on.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// `callback(code, name, spec, file)` returns the code object to run instead, or the same; the last three are
// `__name__`, `__spec__` and `__file__` of the namespace, or None. It is called without trace and profile functions.
// Its exceptions propagate out of `exec`, without their tracebacks, unless the code is damaged or memory or stack are
// used up: then the code runs unchanged. Throws PythonError, InternalError.
void install_exec_hook(const Ref& callback);

// Whether this thread executes this code as the changed version of another code object.
bool is_changed_execution(const PyCodeObject* code);

}  // namespace tagalong::runtime
