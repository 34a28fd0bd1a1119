// The exception that a thread is handling, and tracebacks: what PUSH_EXC_INFO, POP_EXCEPT and the interpreter's way
// from a raising instruction to its handler do.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// From here on `exception` is being handled; the one before, or None.
Ref push_handled(PyThreadState* thread, const Ref& exception);
// Borrowed: what is being handled in the current frame (not by the callers of a generator); null or None: nothing.
inline PyObject* handled(PyThreadState* thread) { return thread->exc_info->exc_value; }
// Back to the exception before; the one that was being handled may die.
void set_handled(PyThreadState* thread, Ref exception);

// The traceback of the exception under way gets an entry for a frame of ours or the current one, at its location.
void add_traceback(PyThreadState* thread, Frame* frame);

}  // namespace tagalong::cpython
