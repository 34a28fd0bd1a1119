#include "replay/arrays/kernels/vector_operation.h"

#include <algorithm>

#include "replay/arrays/kernels/ufunc_info.h"
#include "replay/codegen/vector/svml_functions.h"

namespace tagalong::array {

// complex_steps.h has the steps.
bool takes_complex(VectorOp what) {
  using enum VectorOp;
  switch (what) {
    case kAdd:
    case kSubtract:
    case kMultiply:
    case kSquare:
    case kDivide:
    case kNegative:
    case kConjugate:
    case kModulus:
    case kReal:
    case kImaginary:
    case kEqual:
    case kNotEqual:
    case kSelect:
    case kCopy:
    case kComplexOf:
      return true;
    default:
      return false;
  }
}

// half_steps.h has the steps.
bool takes_half(VectorOp what) {
  using enum VectorOp;
  switch (what) {
    case kAdd:
    case kSubtract:
    case kMultiply:
    case kDivide:
    case kSqrt:
    case kSquare:
    case kReciprocal:
    case kNegative:
    case kAbsolute:
    case kMaximum:
    case kMinimum:
    case kClip:
    case kFloor:
    case kCeil:
    case kTrunc:
    case kRint:
    case kLess:
    case kLessEqual:
    case kEqual:
    case kNotEqual:
    case kGreater:
    case kGreaterEqual:
    case kSelect:
    case kCopy:
      return has_half();
    default:
      return false;
  }
}

std::optional<LaneType> lane_type_of(unsigned type) {
  switch (type) {
    case kDouble:
      return LaneType::kFloat64;
    case kFloat:
      return LaneType::kFloat32;
    case kLong:
    case kLongLong:
      return LaneType::kInt64;
    case kULong:
    case kULongLong:
      return LaneType::kUInt64;
    case kIntC:
      return LaneType::kInt32;
    case kUIntC:
      return LaneType::kUInt32;
    case kInt16:
      return LaneType::kInt16;
    case kUInt16:
      return LaneType::kUInt16;
    case kInt8:
      return LaneType::kInt8;
    case kUInt8:
      return LaneType::kUInt8;
    default:
      return std::nullopt;
  }
}

LaneOperation lane_operation(VectorOp what, unsigned type) {
  if (type == kComplexFloat || type == kComplexDouble) {
    const LaneType part = type == kComplexFloat ? LaneType::kFloat32 : LaneType::kFloat64;
    return takes_complex(what) ? LaneOperation{what, part, true} : LaneOperation{};
  }
  if (type == kHalf) {
    return takes_half(what) ? LaneOperation{what, LaneType::kFloat32, false, true} : LaneOperation{};
  }
  const std::optional<LaneType> lanes = lane_type_of(type);
  return lanes && takes(what, *lanes) ? LaneOperation{what, *lanes} : LaneOperation{};
}

LaneOperation cast_operation(unsigned from_type, unsigned to_type, LaneType* other) {
  if ((from_type == kFloat && to_type == kComplexFloat) || (from_type == kDouble && to_type == kComplexDouble)) {
    return lane_operation(VectorOp::kComplexOf, to_type);
  }
  if (from_type == kHalf && has_half() && (to_type == kFloat || to_type == kDouble)) {
    *other = LaneType::kFloat16;
    return {.what = VectorOp::kWiden, .type = to_type == kFloat ? LaneType::kFloat32 : LaneType::kFloat64};
  }
  if (from_type == kFloat && to_type == kHalf && has_half()) {
    return {.what = VectorOp::kRoundHalf, .type = LaneType::kFloat32, .is_half = true};
  }
  const std::optional<LaneType> to = lane_type_of(to_type);
  if (to && from_type == kBool) {
    return {.what = VectorOp::kFromBool, .type = *to};
  }
  const std::optional<LaneType> known = lane_type_of(from_type);
  if (known && to_type == kBool) {
    return {.what = VectorOp::kIsTrue, .type = *known};
  }
  if (to && known && has_narrowing(*known, *to)) {
    *other = *to;
    return {.what = VectorOp::kNarrow, .type = *known};
  }
  if (to && known && has_to_float(*known, *to)) {
    return {.what = VectorOp::kToFloat, .type = *known};
  }
  if (!to || !known || !has_widening(*known, *to)) {
    return {};
  }
  *other = *known;
  return {.what = VectorOp::kWiden, .type = *to};
}

LaneOperation vector_operation(const Kernel& kernel) {
  const unsigned type = kernel.in_type[0];
  if (!std::all_of(kernel.in_type.begin(), kernel.in_type.begin() + kernel.nin,
                   [&](unsigned in) { return in == type; })) {
    return {};
  }
  const UfuncInfo& row = info(kernel.known);
  if (type == kBool) {
    return {.what = kernel.out_type == kBool ? row.bools : VectorOp::kNone};
  }
  if (is_vector_loop(kernel.loop)) {
    return {.what = row.svml};
  }
  if (kernel.is_glibc) {
    return {.what = vector_lanes() == kAvx2Lanes ? row.glibc : VectorOp::kNone};
  }
  if (kernel.known == UfuncName::kAbsolute && (type == kComplexFloat || type == kComplexDouble)) {
    const unsigned part = type == kComplexFloat ? kFloat : kDouble;
    return kernel.out_type == part ? lane_operation(VectorOp::kModulus, type) : LaneOperation{};
  }
  const unsigned result = is_bool(row.numbers) ? unsigned{kBool} : type;
  return kernel.out_type == result ? lane_operation(row.numbers, type) : LaneOperation{};
}

}  // namespace tagalong::array
