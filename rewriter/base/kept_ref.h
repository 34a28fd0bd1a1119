// A reference that is kept for a long time, as in graphs. Permanent objects (small integers, None, True, ...) live as
// long as the process, yet programs can read their reference counts. A KeptRef to a permanent object is not counted, so
// that the program sees the same count as without tagalong.
//
//   KeptRef kept = Ref::create(object);   kept.get();   const Ref again = kept;
//   KeptRef alias = KeptRef::uncounted(object);   // the object is kept alive by something that lives longer
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// Whether the interpreter has exactly one such object, from its start to its end.
inline bool is_permanent(PyObject* object) {
  if (object == Py_None || object == Py_True || object == Py_False || object == Py_Ellipsis ||
      object == Py_NotImplemented) {
    return true;
  }
  if (object == nullptr || !PyLong_CheckExact(object)) {
    return false;
  }
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(object, &overflow);
  if (overflow != 0 || number < -5 || number > 256) {
    return false;
  }
  // Other integer objects with a small value exist, though they are rare.
  return Ref::steal(PyLong_FromLong(number)).get() == object;
}

class KeptRef {
 public:
  KeptRef() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): usable wherever a Ref is given.
  KeptRef(Ref object) : object_(object.get()), counted_(is_permanent(object_) ? Ref() : std::move(object)) {}

  static KeptRef uncounted(PyObject* object) {
    KeptRef kept;
    kept.object_ = object;
    return kept;
  }

  [[nodiscard]] PyObject* get() const { return object_; }
  operator Ref() const { return Ref::create(object_); }  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
  Ref counted_;
};

}  // namespace tagalong::cpython
