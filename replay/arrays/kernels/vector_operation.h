// Maps kernels to operations of the vector code generator.
#pragma once

#include <optional>

#include "replay/arrays/kernels/kernel.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// An operation, and the type of its operands unless they are bools.
struct LaneOperation {
  VectorOp what = VectorOp::kNone;
  LaneType type = LaneType::kFloat64;
  bool is_complex = false;  // numbers have two parts of this type
  bool is_half = false;     // numbers are float16 in memory
};

// Whether vector code computes the operation on complex numbers.
[[nodiscard]] bool takes_complex(VectorOp what);
// The same for float16.
[[nodiscard]] bool takes_half(VectorOp what);
// The lanes for a type number; empty: the vector code has none.
[[nodiscard]] std::optional<LaneType> lane_type_of(unsigned type);
// VectorOp::kNone where the vector code has no such operation.
[[nodiscard]] LaneOperation vector_operation(const Kernel& kernel);
// A cast; kNone where there is no code for it on this machine. `other`: the type in memory of the operand of kWiden, or
// of the result of kNarrow.
[[nodiscard]] LaneOperation cast_operation(unsigned from_type, unsigned to_type, LaneType* other);
// The operation that takes numbers of this type and gives them unchanged, such as a selection.
[[nodiscard]] LaneOperation lane_operation(VectorOp what, unsigned type);

}  // namespace tagalong::array
