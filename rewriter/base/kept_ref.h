// A reference that is kept for long, as graphs do. Small integers, None, True, ... live as long as the process and
// belong to nobody, yet programs count the references to them: those are named without being counted.
//
//   KeptRef kept = Ref::create(object);   kept.get();   const Ref again = kept;
//   KeptRef of_another = KeptRef::uncounted(object);   // something that lives longer keeps the object alive
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// Whether the object is one of those of which the interpreter has exactly one, from its start to its end.
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
  // There are other integers with these values, if rarely.
  return Ref::steal(PyLong_FromLong(number)).get() == object;
}

class KeptRef {
 public:
  KeptRef() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): takes the place of a Ref.
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
