// Functions of traced modules before their first call: their code objects are armed (cpython/first_call.h), and get
// replay code when they are called.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// Arms all function code that is nested in this code object, down to any depth, in place. Throws PythonError.
void arm_nested(PyCodeObject* code);

// The function has replay code if its code object is armed. Throws RewriteError, PythonError.
void settle(PyFunctionObject* function);

// What is armed after this gets replay code at its first call. Once per process, before anything is armed.
void handle_first_calls();

}  // namespace tagalong::runtime
