// Calls that compute arrays and do nothing else, so that their results may be deferred as those of operators are
// (deferred_expression.h): of NumPy's own ufuncs with one result, of np.where with three arguments, and of np.sum and
// similar functions with one. A program's own ufunc may run any code.
#pragma once

#include <Python.h>

#include <cstddef>

#include "replay/arrays/simd/reduction.h"

namespace tagalong::recorder {

// Whether the callable has a type that none of these functions has, as most callables do.
[[nodiscard]] bool is_other_callable(PyObject* callable);

// How many arguments such a function takes; 0: the callable is not one.
[[nodiscard]] std::size_t elementwise_arguments(PyObject* callable);

// Which reduction of all elements the callable does when it is called with one array. kCount: it is neither such a
// function of NumPy nor such a method of arrays.
[[nodiscard]] array::Reduction reduction_of(PyObject* callable);

// Whether code may run when the array dies, once an operation has taken the only reference to it.
[[nodiscard]] bool death_may_run_code(PyObject* operand);

}  // namespace tagalong::recorder
