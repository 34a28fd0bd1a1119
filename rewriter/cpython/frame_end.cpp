#include "rewriter/cpython/frame_end.h"

namespace tagalong::cpython {

PyTypeObject frame_end_type;

namespace {

EndListener the_listener = nullptr;
PyMappingMethods mapping;

// Turns the mark into the dict that it looks like.
void become_dict(PyObject* mark, bool is_end) {
  Py_SET_TYPE(mark, &PyDict_Type);
  if (the_listener != nullptr) {
    the_listener(mark, is_end);
  }
}

void end(PyObject* mark) {
  become_dict(mark, true);
  PyDict_Type.tp_dealloc(mark);
}

// The interpreter's first action, for each variable, when a program asks for the frame's variables.
int assign(PyObject* mark, PyObject* key, PyObject* value) {
  become_dict(mark, false);
  return PyDict_Type.tp_as_mapping->mp_ass_subscript(mark, key, value);
}

// The type is never shown, so PyType_Ready is not called: that would add it to dict's subclasses.
void make_type() {
  frame_end_type = PyDict_Type;
  mapping = *PyDict_Type.tp_as_mapping;
  mapping.mp_ass_subscript = assign;
  frame_end_type.tp_as_mapping = &mapping;
  frame_end_type.tp_dealloc = end;
}

}  // namespace

void set_end_listener(EndListener listener) { the_listener = listener; }

const void* mark_end(Frame* frame) {
  constexpr int kNeeded = CO_OPTIMIZED | CO_NEWLOCALS;
  constexpr int kSuspended = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  const PyCodeObject* code = code_of(frame);
  if ((code->co_flags & kNeeded) != kNeeded || (code->co_flags & kSuspended) != 0 || code->co_nlocalsplus == 0 ||
      frame->f_locals != nullptr) {
    return nullptr;
  }
  if (frame_end_type.tp_dealloc == nullptr) {
    make_type();
  }
  PyObject* mark = PyDict_New();
  if (mark == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  Py_SET_TYPE(mark, &frame_end_type);
  frame->f_locals = mark;
  return mark;
}

}  // namespace tagalong::cpython
