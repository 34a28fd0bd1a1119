// Operators of NumPy's float64 and int64 scalars and Python's ints and floats, where NumPy reports no error.
#pragma once

#include <Python.h>

namespace tagalong::replay {

// Each makes a new numpy.float64, numpy.int64 or numpy.bool_. Null without an exception: NumPy has to compute it,
// because an operand has another type, the result does not fit, or NumPy would report an error. Null with an exception:
// there is no memory.
[[nodiscard]] PyObject* float64_binary(int argument, PyObject* left, PyObject* right);
[[nodiscard]] PyObject* int64_binary(int argument, PyObject* left, PyObject* right);
[[nodiscard]] PyObject* scalar_compare(int comparison, PyObject* left, PyObject* right);

}  // namespace tagalong::replay
