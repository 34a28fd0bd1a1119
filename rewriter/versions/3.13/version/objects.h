// Objects of CPython 3.13: ints, range iterators, versions of dicts and types, values of instances.
#pragma once

#include <Python.h>

#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE

#include <cstddef>
#include <cstdint>

namespace tagalong::version {

// The number of digits of an int; negative for a negative one.
inline Py_ssize_t signed_digits(PyObject* number) {
  const std::uintptr_t tag = reinterpret_cast<PyLongObject*>(number)->long_value.lv_tag;
  const auto count = static_cast<Py_ssize_t>(tag >> _PyLong_NON_SIZE_BITS);
  return (tag & _PyLong_SIGN_MASK) == 2 ? -count : count;
}
inline digit* digits_of(PyObject* number) { return reinterpret_cast<PyLongObject*>(number)->long_value.ob_digit; }
inline void set_signed_digits(PyObject* number, Py_ssize_t count) {
  const std::uintptr_t sign = count > 0 ? 0U : count == 0 ? 1U : 2U;
  reinterpret_cast<PyLongObject*>(number)->long_value.lv_tag =
      static_cast<std::uintptr_t>(count < 0 ? -count : count) << _PyLong_NON_SIZE_BITS | sign;
}

// The lowest bits of the field, which the interpreter and watchers use for themselves, are no part of the version.
inline constexpr int kNoVersionBits = 12;
inline constexpr std::size_t kDictVersion = offsetof(PyDictObject, ma_used) + sizeof(Py_ssize_t);
inline std::uint64_t dict_version(PyObject* dict) {
  return *reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(dict) + kDictVersion) >> kNoVersionBits;
}
// 0: the type has no version at the moment.
inline unsigned type_version(PyTypeObject* type) { return type->tp_version_tag; }

// Laid out as in rangeobject.c.
struct RangeIterator {
  PyObject ob_base;
  long start, step, len;
};
inline bool has_next(const RangeIterator* range) { return range->len > 0; }
inline long next(RangeIterator* range) {
  const long item = range->start;
  range->start = static_cast<long>(static_cast<unsigned long>(item) + static_cast<unsigned long>(range->step));
  --range->len;
  return item;
}
inline void reset(RangeIterator* /*range*/) {}

// The dict of an instance whose class has Py_TPFLAGS_MANAGED_DICT, borrowed; null: none has been made yet.
inline PyObject* managed_dict(PyObject* object) {
  constexpr int kDictBefore = 3;
  return reinterpret_cast<PyObject**>(object)[-kDictBefore];
}
// The array of such an instance; null: it has a dict instead.
inline PyObject** values_of(PyObject* object) {
  if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_INLINE_VALUES) == 0 || managed_dict(object) != nullptr) {
    return nullptr;
  }
  auto* values = reinterpret_cast<PyDictValues*>(reinterpret_cast<char*>(object) + Py_TYPE(object)->tp_basicsize);
  return values->valid != 0 ? values->values : nullptr;
}
inline void add_to_insertion_order(PyObject* object, Py_ssize_t index) {
  auto* values = reinterpret_cast<PyDictValues*>(reinterpret_cast<char*>(object) + Py_TYPE(object)->tp_basicsize);
  _PyDictValues_AddToInsertionOrder(values, index);
}

// The attributes of a type itself, borrowed: the interpreter has those of its own types elsewhere.
inline PyObject* dict_of(PyTypeObject* type) {
  PyObject* dict = PyType_GetDict(type);
  Py_XDECREF(dict);
  return dict;
}

}  // namespace tagalong::version
