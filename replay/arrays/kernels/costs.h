// What an element costs in each operation, measured once on one machine: enough to tell an addition in registers from a
// sine. Only whether threads are woken, or the GIL is given away, depends on it; results do not.
#pragma once

#include "replay/arrays/kernels/kernel.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// Sixteenths of nanoseconds an element.
using Cost = unsigned;
inline constexpr Cost kPlainCost = 3;      // a loop that loads, does one thing and stores
inline constexpr Cost kReductionCost = 2;  // a sum, with NumPy's eight partial sums in a register

// Of the kernel's loop.
[[nodiscard]] Cost loop_cost(const Kernel& kernel);
// Of an operation that is joined to others, whose operands are in registers.
[[nodiscard]] Cost fused_cost(VectorOp what);

}  // namespace tagalong::array
