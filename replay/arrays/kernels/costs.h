// The cost model: estimated time for an element in each operation. It decides whether to use threads and to release the
// GIL. Results do not depend on it.
#pragma once

#include "replay/arrays/kernels/kernel.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// Sixteenths of a nanosecond for an element.
using Cost = unsigned;
inline constexpr Cost kPlainCost = 3;      // a loop of load, one fast instruction, store
inline constexpr Cost kReductionCost = 2;  // a sum with NumPy's eight partial sums

// The cost of the kernel's loop.
[[nodiscard]] Cost loop_cost(const Kernel& kernel);
// The cost of an operation inside a fused kernel, with its operands in registers.
[[nodiscard]] Cost fused_cost(VectorOp what);

}  // namespace tagalong::array
