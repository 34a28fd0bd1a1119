// Integer objects that no program can meet, and those that CPython keeps.
#pragma once

#include <cstdint>

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// An int of this value, -2**30 < value < 2**30, that is an object of its own also where CPython keeps one for
// everybody. Throws PythonError.
Ref uncommon_int(long value);

// An int with room for any number of 64 bits, which gets its number later, before anybody sees it. Null: an exception
// is set.
PyObject* make_wide_int();
void set_wide_int(PyObject* object, std::int64_t number);

// Borrowed, for as long as the interpreter lives; those of all bytes lie one behind the other.
inline PyObject* int_of_byte(std::uint8_t byte) {
  PyObject* object = PyLong_FromLong(byte);
  Py_DECREF(object);
  return object;
}

}  // namespace tagalong::cpython
