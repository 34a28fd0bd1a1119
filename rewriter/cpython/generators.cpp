#include "rewriter/cpython/generators.h"

#include <array>

#include "rewriter/base/ref.h"
#include "version/generators.h"

namespace tagalong::cpython {

namespace {

bool is_generator(PyObject* object) { return PyGen_CheckExact(object) || PyCoro_CheckExact(object); }

// A StopIteration that would leave a generator becomes the cause of a RuntimeError.
void convert_stop_iteration(PyObject* generator) {
  if (version::kResumingConvertsStop && PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    const bool is_coroutine = PyCoro_CheckExact(generator);
    _PyErr_FormatFromCause(PyExc_RuntimeError, "%s",
                           is_coroutine ? "coroutine raised StopIteration" : "generator raised StopIteration");
  }
}

// The frame has no caller any more.
void unlink(PyThreadState* thread, Frame* frame) {
  PyGenObject* generator = _PyFrame_GetGenerator(frame);
  thread->exc_info = generator->gi_exc_state.previous_item;
  generator->gi_exc_state.previous_item = nullptr;
  set_current_frame(thread, frame->previous);
  frame->previous = nullptr;
}

}  // namespace

Frame* suspended_frame(PyObject* object) {
  if (object == nullptr || !is_generator(object)) {
    return nullptr;
  }
  auto* generator = reinterpret_cast<PyGenObject*>(object);
  return generator->gi_frame_state < FRAME_EXECUTING ? reinterpret_cast<Frame*>(generator->gi_iframe) : nullptr;
}

PyObject* generator_of(Frame* frame) {
  PyObject* object =
      frame->owner == FRAME_OWNED_BY_GENERATOR ? reinterpret_cast<PyObject*>(_PyFrame_GetGenerator(frame)) : nullptr;
  return object != nullptr && is_generator(object) ? object : nullptr;
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

void suspend_generator(PyThreadState* thread, Frame* frame, int unit, int depth) {
  set_location(frame, unit + version::kBehindYield);
  frame->stacktop = code_of(frame)->co_nlocalsplus + depth;
  _PyFrame_GetGenerator(frame)->gi_frame_state = static_cast<std::int8_t>(version::suspended_state(frame));
  unlink(thread, frame);
}

void end_generator(PyThreadState* thread, Frame* frame) {
  PyGenObject* generator = _PyFrame_GetGenerator(frame);
  const Ref keep = Ref::create(reinterpret_cast<PyObject*>(generator));
  generator->gi_frame_state = FRAME_COMPLETED;
  unlink(thread, frame);
  std::array<PyObject*, 3> raised{};
  const bool has_raised = PyErr_Occurred() != nullptr;
  if (has_raised) {
    convert_stop_iteration(keep.get());
    PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
  }
  Py_CLEAR(generator->gi_exc_state.exc_value);
  generator->gi_frame_state = FRAME_CLEARED;
  if (frame->stacktop < 0) {
    frame->stacktop = code_of(frame)->co_nlocalsplus;
  }
  clear_frame(thread, frame);
  if (has_raised) {
    PyErr_Restore(raised[0], raised[1], raised[2]);
  }
}

void raise_stop_iteration(PyObject* value) {
  if (value == Py_None) {
    PyErr_SetNone(PyExc_StopIteration);
  } else {
    _PyGen_SetStopIterationValue(value);
  }
}

PySendResult continue_generator(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise,
                                PyObject** result) {
  PyGenObject* generator = _PyFrame_GetGenerator(frame);
  const Ref keep = Ref::create(reinterpret_cast<PyObject*>(generator));
  *result = run_frame(thread, frame, unit, depth, raise);
  const bool yields = *result != nullptr && version::is_suspended(generator);
  if (!version::kInterpreterPopsFrames) {
    if (yields) {
      unlink(thread, frame);
    } else {
      end_generator(thread, frame);
    }
  }
  if (yields) {
    return PYGEN_NEXT;
  }
  return *result != nullptr ? PYGEN_RETURN : PYGEN_ERROR;
}

}  // namespace tagalong::cpython
