#include "replay/arrays/planning/half_steps.h"

namespace tagalong::array {
namespace {

// How the result of float arithmetic is rounded; kNone: it is a float16 number, or a bool.
VectorOp rounding_of(VectorOp what) {
  switch (what) {
    case VectorOp::kAdd:  // multiples of the smallest subnormal number
    case VectorOp::kSubtract:
    case VectorOp::kSqrt:  // never as small
      return VectorOp::kRoundExact;
    case VectorOp::kMultiply:
    case VectorOp::kSquare:
    case VectorOp::kDivide:
    case VectorOp::kReciprocal:
      return VectorOp::kRoundHalf;
    default:
      return VectorOp::kNone;
  }
}

}  // namespace

void add_half_steps(const VectorOperation& operation, Slot scratch, std::vector<VectorOperation>* operations) {
  VectorOperation step = operation;
  const VectorOp rounding = rounding_of(operation.what);
  if (rounding == VectorOp::kNone) {
    step.is_half = !is_bool(operation.what);
    operations->push_back(step);
    return;
  }
  step.out = scratch;
  operations->push_back(step);
  operations->push_back(
      {.what = rounding, .nin = 1, .in = {scratch}, .out = operation.out, .type = operation.type, .is_half = true});
}

}  // namespace tagalong::array
