// Integer objects that programs never see, and those that CPython keeps.
#pragma once

#include <cstdint>

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// A new int object with this value, -2**30 < value < 2**30, even where CPython shares one object for the value. Throws
// PythonError.
Ref uncommon_int(long value);

// An int with room for any 64-bit number. The caller sets its value later, before a program can see it. Null with an
// exception set.
PyObject* make_wide_int();
void set_wide_int(PyObject* object, std::int64_t number);

// Borrowed; lives as long as the interpreter. The ints of all bytes lie next to each other in memory.
inline PyObject* int_of_byte(std::uint8_t byte) {
  PyObject* object = PyLong_FromLong(byte);
  Py_DECREF(object);
  return object;
}

}  // namespace tagalong::cpython
