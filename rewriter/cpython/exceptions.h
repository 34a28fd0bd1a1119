// The exception that a thread is handling, and tracebacks: the work of PUSH_EXC_INFO, POP_EXCEPT and the interpreter's
// exception unwinding.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Makes `exception` the handled exception; returns the previous one, or None.
Ref push_handled(PyThreadState* thread, const Ref& exception);
// Borrowed: the exception handled in the current frame (not by the callers of a generator). Null or None: there is
// none.
inline PyObject* handled(PyThreadState* thread) { return thread->exc_info->exc_value; }
// Restores the previous exception; the one that was being handled may die.
void set_handled(PyThreadState* thread, Ref exception);

// Adds an entry to the traceback of the exception that is being raised, for a frame of ours or the current one, at the
// frame's location.
void add_traceback(PyThreadState* thread, Frame* frame);

}  // namespace tagalong::cpython
