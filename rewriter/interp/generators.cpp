#include "rewriter/interp/generators.h"

#include <array>
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

PyObject* continue_generator(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise) {
  const Ref generator = Ref::create(reinterpret_cast<PyObject*>(_PyFrame_GetGenerator(frame)));
  if (raise) {
    std::array<PyObject*, 3> parts{};
    PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
    PyErr_NormalizeException(&parts[0], &parts[1], &parts[2]);
    set_location(frame, unit);
    suspend_generator(thread, frame, depth);
    PyObject* result = PyObject_CallMethod(generator.get(), "throw", "OOO", parts[0], parts[1],
                                           parts[2] == nullptr ? Py_None : parts[2]);
    for (PyObject* part : parts) {
      Py_XDECREF(part);
    }
    if (result == nullptr && PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
      PyErr_Clear();  // it has caught the exception and returned
    }
    return result;
  }
  // What is sent is pushed.
  PyObject* top = depth > 0 ? stack_base(frame)[depth - 1] : Py_None;
  set_location(frame, unit - 1);
  suspend_generator(thread, frame, depth > 0 ? depth - 1 : 0);
  PyObject* result = nullptr;
  const PySendResult status = PyIter_Send(generator.get(), top, &result);
  if (depth > 0) {
    Py_DECREF(top);
  }
  if (status == PYGEN_RETURN) {
    Py_CLEAR(result);
  }
  return result;
}

}  // namespace tagalong::interp
