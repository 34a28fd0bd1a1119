// Whether the program can notice at which moment a floating point error is reported.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// True if a report of a floating point error, at this moment and in this thread, is at most a warning that runs no code
// of the program and raises nothing. Then an array may get its new contents before the report as well as after it. Runs
// no code of the program; clears its own exceptions.
[[nodiscard]] bool reports_are_unnoticed(const Numpy& np);

}  // namespace tagalong::array
