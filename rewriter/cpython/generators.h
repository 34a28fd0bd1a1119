// Generator objects and the frames in them: resuming and suspending a generator without running it.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"
#include "version/generators.h"

namespace tagalong::cpython {

// The frame of an exact generator or coroutine that is suspended or has not started; null for any other object.
Frame* suspended_frame(PyObject* object);
// The exact generator or coroutine that the frame lies in; borrowed, null: none.
PyObject* generator_of(Frame* frame);
// Whether the frame belongs to this generator. Only the generator's address is used.
inline bool is_of_generator(Frame* frame, const void* generator) {
  return frame->owner == FRAME_OWNED_BY_GENERATOR && _PyFrame_GetGenerator(frame) == generator;
}
inline bool has_not_started(Frame* frame) { return _PyFrame_GetGenerator(frame)->gi_frame_state == FRAME_CREATED; }

inline bool is_of_generator(const Frame* frame) { return frame->owner == FRAME_OWNED_BY_GENERATOR; }
// Whether a generator's frame that has just run was suspended, and did not end.
inline bool has_yielded(Frame* frame) { return version::is_suspended(_PyFrame_GetGenerator(frame)); }

// Makes a suspended frame the current one, as a request for the next item does; nothing runs.
void enter_generator(PyThreadState* thread, Frame* frame);
// The current frame is suspended again by the instruction at `unit`, with `depth` values on its stack.
void suspend_generator(PyThreadState* thread, Frame* frame, int unit, int depth);
// The current frame has returned, or raised the exception that is set (a StopIteration becomes a RuntimeError): the
// generator is exhausted. The frame's stack is empty.
void end_generator(PyThreadState* thread, Frame* frame);

// The StopIteration that send() raises for the value that a generator has returned.
void raise_stop_iteration(PyObject* value);

// The current frame continues in the interpreter at `unit`, with `depth` values on its stack; with `raise`, as if the
// instruction at `unit` had just raised the exception that is set. `result`: the value that it yields or returns.
PySendResult continue_generator(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise,
                                PyObject** result);

}  // namespace tagalong::cpython
