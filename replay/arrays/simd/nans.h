// Whether there are NaNs among floats or doubles; raises no flag.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Of other types there are none.
[[nodiscard]] bool has_nan(unsigned type, const char* data, Extent stride, Extent count);

}  // namespace tagalong::array
