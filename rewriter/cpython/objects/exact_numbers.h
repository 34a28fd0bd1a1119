// Exact numbers, whose operations run no user code; slices with such bounds; and exact ints as 64-bit numbers, read
// directly from their digits.
//
//   if (PyLong_CheckExact(object) && int64_of(object, &number)) ...
#pragma once

#include <Python.h>

#include <cstdint>

#include "version/objects.h"

namespace tagalong::cpython {

inline bool is_exact_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object);
}

// Whether no bound of the slice has an `__index__` that would have to be called.
inline bool is_plain_slice(PyObject* object) {
  const auto is_bound = [](PyObject* bound) { return bound == Py_None || PyLong_CheckExact(bound); };
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  return PySlice_Check(object) && is_bound(slice->start) && is_bound(slice->stop) && is_bound(slice->step);
}

// Whether NumPy gives a view or one item for this index, without calling methods of other objects.
inline bool is_basic_index(PyObject* index) {
  const auto is_basic = [](PyObject* part) {
    return PyLong_CheckExact(part) || is_plain_slice(part) || part == Py_Ellipsis || part == Py_None;
  };
  if (!PyTuple_CheckExact(index)) {
    return is_basic(index);
  }
  for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(index); ++number) {
    if (!is_basic(PyTuple_GET_ITEM(index, number))) {
      return false;
    }
  }
  return true;
}

// False if the int does not fit.
inline bool int64_of(PyObject* object, std::int64_t* number) {
  const digit* digits = version::digits_of(object);
  switch (version::signed_digits(object)) {
    case 0:
      *number = 0;
      return true;
    case 1:
      *number = digits[0];
      return true;
    case -1:
      *number = -static_cast<std::int64_t>(digits[0]);
      return true;
    default: {
      int overflow = 0;
      *number = PyLong_AsLongLongAndOverflow(object, &overflow);
      return overflow == 0;
    }
  }
}

}  // namespace tagalong::cpython
