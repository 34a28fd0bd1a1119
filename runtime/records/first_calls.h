// Functions of traced modules get replay code at their first call. Before it their code objects are armed
// (cpython/first_call.h).
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// Arms all function code nested in this code object, at any depth, in place. Throws PythonError.
void arm_nested(PyCodeObject* code);

// Gives the function replay code now if its code is armed. Throws RewriteError, PythonError.
void install_armed(PyFunctionObject* function);

// Once per process, before any code is armed.
void handle_first_calls();

}  // namespace tagalong::runtime
