// Which operation of the vector code a kernel's loop is.
#pragma once

#include "replay/arrays/kernels/kernel.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// Exact::kNone where the vector code has no such operation.
[[nodiscard]] VectorOp vector_operation(const Kernel& kernel);

}  // namespace tagalong::array
