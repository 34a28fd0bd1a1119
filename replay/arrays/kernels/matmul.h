// The operator @ and np.matmul for vectors, matrices and stacks of matrices, by the loop that NumPy would run, with the
// strides that NumPy would give it.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

// numpy.matmul; null: this NumPy has another one.
[[nodiscard]] PyObject* matmul_ufunc(const Numpy& np);

// False: the general call is needed, and nothing has happened. True: `result` holds the product, or is empty, and an
// exception is set. `before` as in ufunc_site.h.
[[nodiscard]] bool multiply_matrices(const Numpy& np, PyObject* left, PyObject* right, Ref* result,
                                     const BeforeReport* before);

// The same, but false as well where something has to be reported or raised. Never sets an exception.
[[nodiscard]] bool multiply_quietly(const Numpy& np, PyObject* left, PyObject* right, Ref* result);

}  // namespace tagalong::array
