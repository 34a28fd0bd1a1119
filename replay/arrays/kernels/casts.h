// Loops that cast a block from one dtype of fusion groups to another, for operands whose loop has a wider dtype. Safe
// casts are plain C++ conversions; test_arrays_fusion.py compares each cast with NumPy's.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// The loop of a cast that NumPy considers safe, with the signature of a ufunc's loop. Null: no safe cast.
[[nodiscard]] StridedLoop cast_loop(unsigned from, unsigned to);
// The loop of any cast, as `astype` and assignments do it. It returns an error for a floating point number that does
// not fit into an integer.
[[nodiscard]] StridedLoop unsafe_cast_loop(unsigned from, unsigned to);

}  // namespace tagalong::array
