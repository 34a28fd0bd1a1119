// The PEP 523 frame-evaluation hook. It is installed only while it has a user, because it costs time and C stack for
// each Python call of the process. Users are counted. All functions need the GIL.
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Called for each frame that is about to start; calls evaluate() to let it run. Same signature as _PyFrameEvalFunction.
using FrameHandler = PyObject* (*)(PyThreadState* thread, Frame* frame, int throw_flag);

void set_frame_handler(FrameHandler handler);
// Sets a handler that sees each frame before the others and passes on frames that do not concern it; null removes it.
void set_first_handler(FrameHandler handler);
PyObject* pass_on(PyThreadState* thread, Frame* frame, int throw_flag);
// Sets a handler between the first one and the main one, which passes on frames that do not concern it; null removes
// it.
void set_observer(FrameHandler handler);
PyObject* pass_to_handler(PyThreadState* thread, Frame* frame, int throw_flag);
PyObject* evaluate(PyThreadState* thread, Frame* frame, int throw_flag);

void acquire_hook();  // adds a user; the first one installs the hook
void release_hook();  // removes a user; the last one removes the hook
bool has_hook();
// Declared here, explained in foreign_eval.h.
void watch_foreign_hooks();

// Called when a frame has started on a stack that belongs to no user. While only such stacks run, the hook would cost
// time and C stack for nothing. It is removed until a user's stack runs again; that user calls the second function to
// find out.
void remove_idle_hook(PyThreadState* thread);
bool restore_idle_hook();

// Whether another tool's hook is installed: then its frames are evaluated there and we do nothing.
bool foreign_hook(PyThreadState* thread);

// Called in the child of a fork, where only the users of this thread still exist.
void forget_other_threads();

void suspend_hook(PyThreadState* thread);  // for a frame redirect
void restore_hook(PyThreadState* thread);

}  // namespace tagalong::cpython
