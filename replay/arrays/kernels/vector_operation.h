// Maps kernels to operations of the vector code generator.
#pragma once

#include "replay/arrays/kernels/kernel.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// VectorOp::kNone where the vector code has no such operation.
[[nodiscard]] VectorOp vector_operation(const Kernel& kernel);

}  // namespace tagalong::array
