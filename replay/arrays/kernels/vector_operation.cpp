#include "replay/arrays/kernels/vector_operation.h"

#include <algorithm>

#include "replay/arrays/kernels/ufunc_info.h"
#include "replay/codegen/vector/svml_functions.h"

namespace tagalong::array {
VectorOp vector_operation(const Kernel& kernel) {
  const auto all_are = [&](unsigned type) {
    return std::all_of(kernel.in_type.begin(), kernel.in_type.begin() + kernel.nin,
                       [&](unsigned in) { return in == type; });
  };
  const UfuncInfo& row = info(kernel.known);
  if (all_are(kDouble)) {
    if (is_vector_loop(kernel.loop)) {
      return row.svml;
    }
    if (kernel.is_glibc) {
      return vector_lanes() == kAvx2Lanes ? row.glibc : VectorOp::kNone;
    }
    return kernel.out_type == (is_bool(row.doubles) ? kBool : kDouble) ? row.doubles : VectorOp::kNone;
  }
  return all_are(kBool) && kernel.out_type == kBool ? row.bools : VectorOp::kNone;
}

}  // namespace tagalong::array
