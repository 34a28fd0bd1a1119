#include "rewriter/interp/generators.h"

#include <utility>

#include "rewriter/interp/ref.h"

namespace tagalong::interp {

Frame* suspended_frame(PyObject* object) {
  if (object == nullptr || !PyGen_CheckExact(object)) {
    return nullptr;
  }
  auto* generator = reinterpret_cast<PyGenObject*>(object);
  return generator->gi_frame_state < FRAME_EXECUTING ? reinterpret_cast<Frame*>(generator->gi_iframe) : nullptr;
}

bool is_frame_of(PyObject* object, const Frame* frame) {
  return object != nullptr && PyGen_CheckExact(object) &&
         reinterpret_cast<const Frame*>(reinterpret_cast<PyGenObject*>(object)->gi_iframe) == frame;
}

void enter_generator(PyThreadState* thread, Frame* frame) {
  PyGenObject* generator = _PyFrame_GetGenerator(frame);
  frame->previous = current_frame(thread);
  set_current_frame(thread, frame);
  generator->gi_exc_state.previous_item = thread->exc_info;
  thread->exc_info = &generator->gi_exc_state;
  generator->gi_frame_state = FRAME_EXECUTING;
  frame->stacktop = -1;
}

void suspend_generator(PyThreadState* thread, Frame* frame, int depth) {
  PyGenObject* generator = _PyFrame_GetGenerator(frame);
  frame->stacktop = frame->f_code->co_nlocalsplus + depth;
  generator->gi_frame_state = FRAME_SUSPENDED;
  thread->exc_info = generator->gi_exc_state.previous_item;
  generator->gi_exc_state.previous_item = nullptr;
  set_current_frame(thread, frame->previous);
  frame->previous = nullptr;
}

// What PyIter_Send does, except that everything the frame needs lies on its stack already and is its own: an argument
// would be held by whoever sends it, and live longer than in a frame that was never left.
PyObject* continue_generator(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise) {
  PyGenObject* generator = _PyFrame_GetGenerator(frame);
  const Ref held = Ref::create(reinterpret_cast<PyObject*>(generator));
  PyObject* result = run_frame(thread, frame, unit, depth, raise);
  set_current_frame(thread, frame->previous);
  frame->previous = nullptr;
  thread->exc_info = std::exchange(generator->gi_exc_state.previous_item, nullptr);
  if (generator->gi_frame_state == FRAME_SUSPENDED) {
    return result;
  }
  generator->gi_frame_state = FRAME_COMPLETED;
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    _PyErr_FormatFromCause(PyExc_RuntimeError, "generator raised StopIteration");
  }
  Py_CLEAR(result);
  Py_CLEAR(generator->gi_exc_state.exc_value);
  generator->gi_frame_state = FRAME_CLEARED;
  clear_frame(thread, frame);
  return nullptr;
}

}  // namespace tagalong::interp
