// Whether anybody can tell when a floating point error is reported.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// True if a report of a floating point error, at this moment and in this thread, is a warning at most, and one that
// runs no code of the program's and raises nothing: then an array may have new contents before the report as well as
// after it. Runs no code of the program's; clears its own exceptions.
[[nodiscard]] bool reports_are_unnoticed(const Numpy& np);

}  // namespace tagalong::array
