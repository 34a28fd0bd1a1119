// Objects of CPython 3.11: ints, range iterators, versions of dicts and types, values of instances.
#pragma once

#include <Python.h>

#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE

#include <cstdint>

namespace tagalong::version {

// The number of digits of an int; negative for a negative one.
inline Py_ssize_t signed_digits(PyObject* number) { return Py_SIZE(number); }
inline digit* digits_of(PyObject* number) { return reinterpret_cast<PyLongObject*>(number)->ob_digit; }
inline void set_signed_digits(PyObject* number, Py_ssize_t count) {
  Py_SET_SIZE(reinterpret_cast<PyVarObject*>(number), count);
}

inline std::uint64_t dict_version(PyObject* dict) { return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag; }
// 0: the type has no version at the moment.
inline unsigned type_version(PyTypeObject* type) {
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) != 0 ? type->tp_version_tag : 0;
}

// Laid out as in rangeobject.c.
struct RangeIterator {
  PyObject ob_base;
  long index, start, step, len;
};
inline bool has_next(const RangeIterator* range) { return range->index < range->len; }
inline long next(RangeIterator* range) {
  return static_cast<long>(static_cast<unsigned long>(range->start) +
                           static_cast<unsigned long>(range->index++) * static_cast<unsigned long>(range->step));
}
inline void reset(RangeIterator* range) { range->index = 0; }

// The array of an instance whose class has Py_TPFLAGS_MANAGED_DICT; null: it has a dict instead.
inline PyObject** values_of(PyObject* object) {
  constexpr int kValuesBefore = 4;
  return reinterpret_cast<PyObject***>(object)[-kValuesBefore];
}
inline void add_to_insertion_order(PyObject* object, Py_ssize_t index) {
  _PyDictValues_AddToInsertionOrder(reinterpret_cast<PyDictValues*>(values_of(object)), index);
}
// The dict of such an instance, borrowed; null: none has been made yet.
inline PyObject* managed_dict(PyObject* object) {
  constexpr int kDictBefore = 3;
  return reinterpret_cast<PyObject**>(object)[-kDictBefore];
}

// The attributes of a type itself, borrowed.
inline PyObject* dict_of(PyTypeObject* type) { return type->tp_dict; }

}  // namespace tagalong::version
