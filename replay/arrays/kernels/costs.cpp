#include "replay/arrays/kernels/costs.h"

#include <algorithm>

#include "replay/arrays/kernels/ufunc_info.h"
#include "replay/codegen/vector/svml_functions.h"

namespace tagalong::array {
namespace {

constexpr Cost kGlibcCost = 48;  // vectorised sin, cos, arcsin and power (libm_functions.h)
constexpr Cost kSelectCost = 4;
constexpr Cost kHalfCost = 64;       // conversions in integer arithmetic
constexpr Cost kComplexFactor = 24;  // of a function of complex numbers, which has no vectors

}  // namespace

Cost loop_cost(const Kernel& kernel) {
  const UfuncInfo& row = info(kernel.known);
  const unsigned type = kernel.in_type[0];
  if (kernel.is_glibc) {
    return row.glibc == VectorOp::kNone ? kGlibcCost : fused_cost(row.glibc);
  }
  if (is_vector_loop(kernel.loop)) {
    return fused_cost(row.svml);
  }
  if (kernel.name.empty() && kernel.nin == 3) {
    return kSelectCost;
  }
  if (type == kHalf) {
    return std::max<Cost>(row.cost_float, kHalfCost);
  }
  if (is_complex(type)) {
    return row.cost_double == 0 ? 2 * kPlainCost : kComplexFactor * row.cost_double;
  }
  if (row.cost_double != 0 && type != kBool) {
    return type == kDouble ? row.cost_double : type == kFloat ? row.cost_float : row.cost_integer;
  }
  return kernel.out_size == 1 ? 1 : kernel.out_size <= 4 ? 2 : kPlainCost;
}

Cost fused_cost(VectorOp what) { return info(what).cost; }

}  // namespace tagalong::array
