// The PEP 523 frame-evaluation hook, installed only while somebody needs it: a hook that stays costs every Python call
// of the process and C stack for each. Users are counted; all of this needs the GIL.
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Decides about a frame that is about to start; calls evaluate() to let it run. As _PyFrameEvalFunction.
using FrameHandler = PyObject* (*)(PyThreadState* thread, Frame* frame, int throw_flag);

void set_frame_handler(FrameHandler handler);
// One that sees each frame before that, and passes on what is not its own; null: nobody.
void set_first_handler(FrameHandler handler);
PyObject* pass_on(PyThreadState* thread, Frame* frame, int throw_flag);
// One between the two, which passes on what is not its own to the handler; null: there is none.
void set_observer(FrameHandler handler);
PyObject* pass_to_handler(PyThreadState* thread, Frame* frame, int throw_flag);
PyObject* evaluate(PyThreadState* thread, Frame* frame, int throw_flag);

void acquire_hook();  // one more user: installed
void release_hook();  // one user less: removed with the last
bool has_hook();
// See foreign_eval.h.
void watch_foreign_hooks();

// A frame has started on a stack that no user is on: as long as only such stacks run, the hook would cost them time and
// C stack. It is removed until a user comes back, who asks whether that was so.
void lend_hook(PyThreadState* thread);
bool take_back_hook();

// Whether somebody else's hook is installed: then frames are theirs and we step aside.
bool foreign_hook(PyThreadState* thread);

// In the child of a fork: of the users only those of this thread are left.
void forget_other_threads();

void suspend_hook(PyThreadState* thread);  // for a landing
void restore_hook(PyThreadState* thread);

}  // namespace tagalong::cpython
