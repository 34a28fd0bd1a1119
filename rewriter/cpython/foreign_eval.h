// Evaluation functions of others (PEP 523: torch.compile, debuggers). A function that is installed while functions have
// derived code is to be given frames of the code that the compiler made. CPython has no callback for an installation,
// so the two functions that set and get the evaluation function are replaced in place; frames then pass through one of
// ours on their way.
#pragma once

#include <Python.h>
#include <internal/pycore_frame.h>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Once for the process, `own` being the engine's evaluation function. Does nothing where it cannot be done: on other
// processors, or where the system forbids it.
void watch_evaluation_functions(_PyFrameEvalFunction own);

// Not 0 while a function of others is installed, where installations are watched.
extern int are_frames_of_others;
// Whether others watch the thread or evaluate its frames: the original instructions run then.
inline bool is_left_to_others(PyThreadState* thread) { return is_watched(thread) || are_frames_of_others != 0; }

// For the time of a landing: the interpreter inlines no call while a function is installed, whoever's it is. The two
// are called in turn, and nothing is installed in between.
void set_evaluation_aside(PyThreadState* thread);
void bring_evaluation_back(PyThreadState* thread);

// The co_filename of code that only the engine runs; such frames are shown to no evaluation function. Null with an
// exception set.
PyObject* internal_filename();

}  // namespace tagalong::cpython
