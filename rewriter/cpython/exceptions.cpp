#include "rewriter/cpython/exceptions.h"

#include <utility>

#include "rewriter/base/pending_error.h"

namespace tagalong::cpython {

Ref push_handled(PyThreadState* thread, const Ref& exception) {
  PyObject*& place = thread->exc_info->exc_value;
  Ref before = Ref::steal(std::exchange(place, Py_NewRef(exception.get())));
  return before ? std::move(before) : Ref::create(Py_None);
}

// The interpreter must not find None there.
void set_handled(PyThreadState* thread, Ref exception) {
  if (exception.get() == Py_None) {
    exception = Ref();
  }
  const Ref old = Ref::steal(std::exchange(thread->exc_info->exc_value, exception.release()));
}

void add_traceback(PyThreadState* thread, Frame* frame) {
  Ref object;
  {
    const PendingError pending;
    Frame* current = current_frame(thread);
    set_current_frame(thread, frame);
    object = Ref::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread)));
    set_current_frame(thread, current);
  }
  if (object) {
    PyTraceBack_Here(reinterpret_cast<PyFrameObject*>(object.get()));
  } else {
    PyErr_NoMemory();  // as the interpreter does here
  }
}

}  // namespace tagalong::cpython
