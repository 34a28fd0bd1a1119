// An object that the process makes once, at the first use. A static with an initialiser would not do: making an object
// may run the collector, whose finalisers may release the GIL; a second thread would then hold the GIL and wait for the
// first thread's initialiser, which needs the GIL.
//
//   static PyTypeObject* type = nullptr;
//   return cpython::once(type, make_type);
#pragma once

namespace tagalong::cpython {

// Null, with an exception set, if the object could not be made; the next call tries again. If two threads make one
// each, both get the object of the thread that finished first.
template <class T, class Make>
T* once(T*& place, const Make& make) {
  if (place == nullptr) {
    T* made = make();
    if (place == nullptr) {
      place = made;
    }
  }
  return place;
}

}  // namespace tagalong::cpython
