// Calls that compute arrays element by element and do nothing else, so that they may wait as operators do
// (array_expression.h): of NumPy's own ufuncs with one result, and of np.where with three arguments. A program's own
// ufunc may ask anybody.
#pragma once

#include <Python.h>

#include <cstddef>

namespace tagalong::recorder {

// How many arguments such a function takes; 0: it is none of these.
[[nodiscard]] std::size_t elementwise_arguments(PyObject* callable);

// Whether somebody may be told that the array dies once an operation, which has the only reference, has taken it.
[[nodiscard]] bool is_mourned(PyObject* operand);

}  // namespace tagalong::recorder
