// The end of the interpreter. Once it has begun, CPython ends every other thread at the point where the thread asks for
// the GIL: its stack is unwound, and our destructors run without the GIL, next to an interpreter that is being torn
// down. They must not give references back. So the first destructor that would give a reference back stops its thread
// forever; the process exits without that thread.
#pragma once

#include <Python.h>

namespace tagalong::cpython {

// Called in the thread that ends the interpreter, before finalisation begins.
void begin_ending(bool (*is_finalizing)());

inline bool g_is_ending = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): under the GIL

// Gives a reference back. In a thread that is being ended this function does not return.
void decref_while_ending(PyObject* object);

inline void give_back(PyObject* object) {
  if (object == nullptr) {
    return;
  }
  if (g_is_ending) [[unlikely]] {
    decref_while_ending(object);
  } else {
    Py_DECREF(object);
  }
}

}  // namespace tagalong::cpython
