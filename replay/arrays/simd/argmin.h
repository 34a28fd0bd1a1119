// Where in a row its largest or smallest element is: the first one of several, or the first NaN, as NumPy has it.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// A loop as those of reductions, over one whole row; the result is an int64. For integers, float and double. Raises no
// floating point flags but those of signalling NaNs.
[[nodiscard]] StridedLoop argmin_loop(unsigned type, bool of_largest);

}  // namespace tagalong::array
