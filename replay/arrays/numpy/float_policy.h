// Which floating point errors the current errstate ignores or only warns of.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// True if the errstate ignores all `errors` (bits of FloatError). Runs no code of the program; clears its own
// exceptions.
[[nodiscard]] bool ignores_float_errors(const Numpy& np, int errors);
// True if no floating point error is more than a warning.
[[nodiscard]] bool warns_of_float_errors(const Numpy& np);

}  // namespace tagalong::array
