// Generator objects and their frames, which lie inside of them: what resuming and suspending one means.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// The frame of an exact generator or coroutine that is suspended or has not started; null: it is something else.
Frame* suspended_frame(PyObject* object);
// The exact generator or coroutine that the frame lies in; borrowed, null: none.
PyObject* generator_of(Frame* frame);
// Whether the frame belongs to this generator, of which only the address is looked at.
inline bool is_of_generator(Frame* frame, const void* generator) {
  return frame->owner == FRAME_OWNED_BY_GENERATOR && _PyFrame_GetGenerator(frame) == generator;
}
inline bool has_not_started(Frame* frame) { return _PyFrame_GetGenerator(frame)->gi_frame_state == FRAME_CREATED; }

inline bool is_of_generator(const Frame* frame) { return frame->owner == FRAME_OWNED_BY_GENERATOR; }
// Of a generator's frame that has just run: it has not come to its end.
inline bool has_yielded(Frame* frame) { return _PyFrame_GetGenerator(frame)->gi_frame_state == FRAME_SUSPENDED; }

// A suspended frame becomes the current one, as when somebody asks for the next item; nothing runs.
void enter_generator(PyThreadState* thread, Frame* frame);
// The current frame is suspended again, with `depth` values on its stack.
void suspend_generator(PyThreadState* thread, Frame* frame, int depth);
// The current frame has returned, or raised the exception that is set (a StopIteration becomes a RuntimeError): its
// generator is exhausted. Nothing is on its stack.
void end_generator(PyThreadState* thread, Frame* frame);

// The StopIteration that send() raises for the value that a generator has returned.
void raise_stop_iteration(PyObject* value);

// The current frame goes on in the interpreter at `unit`, with `depth` values on its stack; with `raise`, as if the
// instruction at `unit` had just raised the exception that is set. `result`: what it yields or returns.
PySendResult continue_generator(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise,
                                PyObject** result);

}  // namespace tagalong::cpython
