// Evaluation functions of others (PEP 523: torch.compile, debuggers). A function that is installed while functions have
// derived code is to be given frames of the code that the compiler made. CPython has no callback for an installation,
// so the two functions that set and get the evaluation function are replaced in place; frames then pass through one of
// ours on their way.
#pragma once

#include <Python.h>
#include <internal/pycore_frame.h>

#include "rewriter/interp/ref.h"

namespace tagalong::interp {

// Once for the process, `own` being the engine's evaluation function. Does nothing where it cannot be done: on other
// processors, or where the system forbids it.
void watch_evaluation_functions(_PyFrameEvalFunction own);

// The co_filename of code that only the engine runs; such frames are shown to no evaluation function. Null with an
// exception set.
PyObject* internal_filename();

}  // namespace tagalong::interp
