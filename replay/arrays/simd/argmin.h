// argmax and argmin of one row: the index of the first largest or smallest element, or of the first NaN, as in NumPy.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Returns a reduction loop over one whole row, whose result is an int64. For integers, float and double; null for other
// types. The loop raises no floating point flags, except for signalling NaNs.
[[nodiscard]] StridedLoop argmin_loop(unsigned type, bool of_largest);

}  // namespace tagalong::array
