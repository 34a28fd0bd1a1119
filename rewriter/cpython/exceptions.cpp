#include "rewriter/cpython/exceptions.h"

#include <utility>

namespace tagalong::cpython {

Ref push_handled(PyThreadState* thread, const Ref& exception) {
  PyObject*& place = thread->exc_info->exc_value;
  Ref before = Ref::steal(std::exchange(place, Py_NewRef(exception.get())));
  return before ? std::move(before) : Ref::create(Py_None);
}

void set_handled(PyThreadState* thread, Ref exception) {
  const Ref old = Ref::steal(std::exchange(thread->exc_info->exc_value, exception.release()));
}

void add_traceback(PyThreadState* thread, Frame* frame) {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  Frame* current = current_frame(thread);
  set_current_frame(thread, frame);
  const Ref object = Ref::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  set_current_frame(thread, current);
  PyErr_Restore(type, value, traceback);
  if (object) {
    PyTraceBack_Here(reinterpret_cast<PyFrameObject*>(object.get()));
  } else {
    PyErr_NoMemory();  // as the interpreter does it
  }
}

}  // namespace tagalong::cpython
