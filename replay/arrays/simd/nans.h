// Search for NaNs in arrays, without raising floating point flags.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Whether there is a NaN. False for types other than float and double.
[[nodiscard]] bool has_nan(unsigned type, const char* data, Extent stride, Extent count);

}  // namespace tagalong::array
