// Casts of blocks between the dtypes that fusion groups take, for operands that a loop wants in a wider dtype: only
// those that NumPy calls safe, which are what the language says a conversion is. test_arrays_fusion.py holds each
// against NumPy.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// A loop of one operand like those of ufuncs; null: no such cast.
[[nodiscard]] StridedLoop cast_loop(unsigned from, unsigned to);
// Any cast, as of `astype` and of what is assigned. A floating point number that does not fit into an integer is an
// exception.
[[nodiscard]] StridedLoop unsafe_cast_loop(unsigned from, unsigned to);

}  // namespace tagalong::array
