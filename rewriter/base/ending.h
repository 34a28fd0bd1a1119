// The end of the interpreter. From then on CPython ends every other thread that asks for the GIL where it stands: the
// thread's stack is unwound, and our destructors run in a thread that holds no GIL, next to an interpreter that is
// being taken down. A reference must not be given back there, so such a thread stops for good as soon as one is to be;
// the process ends without it.
#pragma once

#include <Python.h>

namespace tagalong::cpython {

// In the thread that ends the interpreter, before it begins.
void begin_ending();

inline bool g_is_ending = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): under the GIL

// Gives a reference back, unless this thread is being ended: then it does not return.
void give_back_while_ending(PyObject* object);

inline void give_back(PyObject* object) {
  if (object == nullptr) {
    return;
  }
  if (g_is_ending) [[unlikely]] {
    give_back_while_ending(object);
  } else {
    Py_DECREF(object);
  }
}

}  // namespace tagalong::cpython
