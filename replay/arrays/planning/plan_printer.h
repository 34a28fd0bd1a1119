// Fusion plans as text: what is read and how, the operations in order, which operations are one vector kernel,
// reductions, results. The text is the same on each machine that has vector code; a machine without it has no kernels.
// Never runs user code.
#pragma once

#include <string>
#include <string_view>

#include "replay/arrays/fusion/multi_pass.h"

namespace tagalong::array {

[[nodiscard]] std::string print_plan(const MultiPassPlan& plan);
// `float64`, ...: of NumPy's type numbers.
[[nodiscard]] std::string_view dtype_name(unsigned type);

}  // namespace tagalong::array
