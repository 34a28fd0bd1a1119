#include "rewriter/interp/exceptions.h"

#include <utility>

namespace tagalong::interp {

Ref push_handled(PyThreadState* thread, const Ref& exception) {
  PyObject*& place = thread->exc_info->exc_value;
  Ref before = Ref::steal(std::exchange(place, Py_NewRef(exception.get())));
  return before ? std::move(before) : Ref::create(Py_None);
}

void set_handled(PyThreadState* thread, Ref exception) {
  const Ref old = Ref::steal(std::exchange(thread->exc_info->exc_value, exception.release()));
}

void add_traceback(PyThreadState* thread, Frame* frame) {
  Frame* current = current_frame(thread);
  set_current_frame(thread, frame);
  const Ref object = Ref::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
  set_current_frame(thread, current);
  if (object) {
    PyTraceBack_Here(reinterpret_cast<PyFrameObject*>(object.get()));
  }
}

}  // namespace tagalong::interp
