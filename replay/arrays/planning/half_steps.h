// Writes operations on float16 numbers as operations on floats. NumPy converts the operands, computes a float, and
// rounds it to float16 after each operation. Kernels keep that as a float, and stores convert it.
//
//   add_half_steps({.what = VectorOp::kMultiply, .nin = 2, .in = {0, 1}, .out = 2}, scratch, &kernel.operations);
#pragma once

#include <vector>

#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// Whether the operands of an operation with float16 numbers are such numbers; otherwise they are floats.
[[nodiscard]] constexpr bool is_half_operand(VectorOp what) { return what != VectorOp::kRoundHalf; }

// `scratch` is a slot for the result before it is rounded.
void add_half_steps(const VectorOperation& operation, Slot scratch, std::vector<VectorOperation>* operations);

}  // namespace tagalong::array
