// Evaluation functions of other tools (PEP 523: torch.compile, debuggers). A function that is installed while functions
// have derived code has to be given frames of the code that the compiler made. CPython has no callback for an
// installation, so the two functions that set and get the evaluation function are replaced in place; frames then pass
// through one of our functions first.
#pragma once

#include <Python.h>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Called once in a process; `own` is tagalong's evaluation function. Does nothing on other processors, or if the system
// forbids the change.
void watch_evaluation_functions(_PyFrameEvalFunction own);

// Why runs must leave; 0: nothing. Another tool's function is installed, if installations are watched.
extern int reasons_to_leave;
inline constexpr int kForeignEvaluation = 1;
inline constexpr int kWrittenLocals = 2;  // the program has assigned to a variable of a frame in a run
// Whether another tool watches the thread or evaluates its frames: then the original instructions run.
inline bool must_run_eagerly(PyThreadState* thread) { return is_watched(thread) || reasons_to_leave != 0; }

// During a redirect no evaluation function may be installed, because the interpreter would not inline the call. The two
// functions are called in turn, and nothing can be installed between the two calls.
void suspend_evaluation_function(PyThreadState* thread);
void restore_evaluation_function(PyThreadState* thread);

// The co_filename of code that only tagalong runs; no evaluation function sees such frames. Null with an exception set.
PyObject* internal_filename();
inline bool is_internal_code(const PyCodeObject* code) { return code->co_filename == internal_filename(); }

}  // namespace tagalong::cpython
