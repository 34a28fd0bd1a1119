// Generator objects and their frames, which lie inside of them: what resuming and suspending one means.
#pragma once

#include "rewriter/interp/frames.h"

namespace tagalong::interp {

// The frame of an exact generator that is suspended or has not started; null: it is something else.
Frame* suspended_frame(PyObject* object);
// Whether the object is an exact generator and this is its frame.
bool is_frame_of(PyObject* object, const Frame* frame);
inline bool has_not_started(Frame* frame) { return _PyFrame_GetGenerator(frame)->gi_frame_state == FRAME_CREATED; }

// A suspended frame becomes the current one, as when somebody asks for the next item; nothing runs.
void enter_generator(PyThreadState* thread, Frame* frame);
// The current frame is suspended again, with `depth` values on its stack.
void suspend_generator(PyThreadState* thread, Frame* frame, int depth);

// The current frame goes on in the interpreter at `unit`, with `depth` values on its stack; with `raise`, as if the
// instruction at `unit` had raised the exception that is set. What it yields; null without an exception when it has
// returned.
PyObject* continue_generator(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise);

}  // namespace tagalong::interp
