// An object of the process's own, made when it is first asked for. Not a static with an initialiser: making an object
// may run the collector, whose finalisers may give up the GIL, and then another thread would wait, with the GIL, for
// the first one to get done.
//
//   static PyTypeObject* type = nullptr;
//   return cpython::once(type, make_type);
#pragma once

namespace tagalong::cpython {

// Null, with an exception set, if it could not be made; the next one who asks tries again. Whoever comes second with an
// object of its own takes the first one's.
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
