// Changing code objects as `exec` and `eval` run them: bodies of modules, by whatever they were found and loaded, cells
// of notebooks, scripts that a tool runs. Which ones, and into what, is for a callback to say. Bodies that make no
// functions and have no loops are not shown to it. A code object that is executed again and again, for less time than
// changing it takes, runs as written from the fifth time on.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// `callback(code, name, spec, file)` returns the code object to run instead, or the same; the last three are
// `__name__`, `__spec__` and `__file__` of the namespace, None where it has none. It is called without trace and
// profile functions. An exception of it propagates out of the call, without its traceback, unless the code is damaged
// or there is no room for the callback: then the code runs as it is. Throws PythonError, InternalError.
void install_exec_hook(const Ref& callback);

// Whether this thread is executing this code in the place of another: the callback has had it.
bool is_changed_execution(const PyCodeObject* code);

}  // namespace tagalong::runtime
