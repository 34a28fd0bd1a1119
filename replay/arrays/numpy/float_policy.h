// Whether anybody wants to hear of floating point errors: what the errstate of this moment says.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// True if every one of these errors (FloatError) is ignored. Runs no code of the program's; clears its own exceptions.
[[nodiscard]] bool ignores_float_errors(const Numpy& np, int errors);
// True if no floating point error is more than a warning.
[[nodiscard]] bool warns_of_float_errors(const Numpy& np);

}  // namespace tagalong::array
