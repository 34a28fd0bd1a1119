// Calls that compute arrays and do nothing else, so that they may wait as operators do (deferred_expression.h): of
// NumPy's own ufuncs with one result, of np.where with three arguments, and of np.sum and its like with one. A
// program's own ufunc may ask anybody.
#pragma once

#include <Python.h>

#include <cstddef>

#include "replay/arrays/simd/reduction.h"

namespace tagalong::recorder {

// Whether it is of a kind of which none of these is, as most callables are.
[[nodiscard]] bool is_of_anybody(PyObject* callable);

// How many arguments such a function takes; 0: it is none of these.
[[nodiscard]] std::size_t elementwise_arguments(PyObject* callable);

// Which reduction of all elements it does that is called with one array; kCount: it is no such function of NumPy's, nor
// such a method of arrays.
[[nodiscard]] array::Reduction reduction_of(PyObject* callable);

// Whether somebody may be told that the array dies once an operation, which has the only reference, has taken it.
[[nodiscard]] bool is_mourned(PyObject* operand);

}  // namespace tagalong::recorder
