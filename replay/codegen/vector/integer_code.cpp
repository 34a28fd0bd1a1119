#include "replay/codegen/vector/integer_code.h"

#ifdef __x86_64__

#include <utility>

namespace tagalong::array {
namespace {

// Predicates of vpcmpd and the like.
int predicate_of(VectorOp what) {
  using enum VectorOp;
  constexpr int kEqualBits = 0;
  constexpr int kLower = 1;
  constexpr int kLowerOrEqual = 2;
  constexpr int kOtherBits = 4;
  constexpr int kNotLower = 5;
  constexpr int kNotLowerOrEqual = 6;
  switch (what) {
    case kLess:
      return kLower;
    case kLessEqual:
      return kLowerOrEqual;
    case kNotEqual:
      return kOtherBits;
    case kGreater:
      return kNotLowerOrEqual;
    case kGreaterEqual:
      return kNotLower;
    default:
      return kEqualBits;
  }
}

}  // namespace

void IntegerCode::greater(bool is_signed, int out, int one, int two) {
  const LaneInstructions& lanes = asm_.lanes();
  if (is_signed) {
    return lanes.integer_greater(asm_, asm_.vector(out), asm_.vector(one), asm_.vector(two));
  }
  if (!has_eight_bytes()) {
    const int inverted = allocate();
    lanes.unsigned_maximum(asm_, asm_.vector(out), asm_.vector(one), asm_.vector(two));
    lanes.equal_bits(asm_, asm_.vector(out), asm_.vector(out), asm_.vector(two));
    asm_.ones(inverted);
    asm_.bit_xor(out, out, inverted);
    return release(inverted);
  }
  // Inverting the first bits turns unsigned numbers into signed ones, in the same order.
  constexpr std::uint8_t kOtherBits = 63;
  const int first_bits = allocate();
  const int other = allocate();
  asm_.ones(first_bits);
  asm_.vpsllq(asm_.vector(first_bits), asm_.vector(first_bits), kOtherBits);
  asm_.bit_xor(other, two, first_bits);
  asm_.bit_xor(out, one, first_bits);
  lanes.integer_greater(asm_, asm_.vector(out), asm_.vector(out), asm_.vector(other));
  release(other);
  release(first_bits);
}

void IntegerCode::compare(VectorOp what, bool is_signed, int out, int one, int two) {
  using enum VectorOp;
  const LaneInstructions& lanes = asm_.lanes();
  if (has_masks()) {
    const auto compare = is_signed ? lanes.integer_compare_to_mask : lanes.unsigned_compare_to_mask;
    compare(asm_, asm_.compared(), asm_.vector(one), asm_.vector(two), static_cast<std::uint8_t>(predicate_of(what)));
    return lanes.from_mask(asm_, asm_.vector(out), k3);
  }
  if (what == kEqual || what == kNotEqual) {
    lanes.equal_bits(asm_, asm_.vector(out), asm_.vector(one), asm_.vector(two));
  } else if (what == kGreater || what == kLessEqual) {
    greater(is_signed, out, one, two);
  } else {
    greater(is_signed, out, two, one);
  }
  if (what == kNotEqual || what == kLessEqual || what == kGreaterEqual) {
    const int inverted = allocate();
    asm_.ones(inverted);
    asm_.bit_xor(out, out, inverted);
    release(inverted);
  }
}

// Products of the lower and of the higher bytes of pairs.
void IntegerCode::multiply_bytes(int out, int one, int two) {
  constexpr std::uint8_t kByte = 8;
  const std::array scratch{allocate(), allocate()};
  const auto [result, left, right, higher, other] = std::array{asm_.vector(out), asm_.vector(one), asm_.vector(two),
                                                               asm_.vector(scratch[0]), asm_.vector(scratch[1])};
  asm_.vpsrlw(higher, left, kByte);
  asm_.vpsrlw(other, right, kByte);
  asm_.vpmullw(higher, higher, other);
  asm_.vpsllw(higher, higher, kByte);
  asm_.vpmullw(result, left, right);
  asm_.vpsllw(result, result, kByte);
  asm_.vpsrlw(result, result, kByte);
  asm_.bit_or(out, out, scratch[0]);
  release(scratch[1]);
  release(scratch[0]);
}

// The product of 64 bits from products of halves: those of a lower and a higher half matter only in the higher half.
void IntegerCode::multiply(int out, int one, int two) {
  const LaneInstructions& lanes = asm_.lanes();
  if (asm_.unit().item_bytes == 1) {
    return multiply_bytes(out, one, two);
  }
  if (!takes_steps()) {
    return lanes.integer_multiply(asm_, asm_.result(out), asm_.vector(one), asm_.vector(two));
  }
  constexpr std::uint8_t kSwapHalves = 0xB1;
  constexpr std::uint8_t kHalf = 32;
  const int scratch = allocate();
  const auto [result, left, right, mixed] =
      std::array{asm_.vector(out), asm_.vector(one), asm_.vector(two), asm_.vector(scratch)};
  asm_.vpshufd(result, right, kSwapHalves);
  asm_.vpmulld(result, result, left);
  asm_.vpsrlq(mixed, result, kHalf);
  asm_.vpaddd(result, result, mixed);
  asm_.vpsllq(result, result, kHalf);
  asm_.vpmuludq(mixed, left, right);
  asm_.vpaddq(result, result, mixed);
  release(scratch);
}

void IntegerCode::negative(int out, int one) {
  const int zero = allocate();
  asm_.zero(zero);
  asm_.lanes().integer_subtract(asm_, asm_.result(out), asm_.vector(zero), asm_.vector(one));
  release(zero);
}

void IntegerCode::absolute(bool is_signed, int out, int one) {
  const LaneInstructions& lanes = asm_.lanes();
  if (!is_signed) {
    return asm_.copy(out, one);
  }
  if (!takes_steps()) {
    return lanes.integer_absolute(asm_, asm_.result(out), asm_.vector(one));
  }
  const int is_negative = allocate();
  asm_.zero(is_negative);
  greater(true, is_negative, is_negative, one);
  asm_.bit_xor(out, one, is_negative);
  lanes.integer_subtract(asm_, asm_.vector(out), asm_.vector(out), asm_.vector(is_negative));
  release(is_negative);
}

// Lanes of ones are -1.
void IntegerCode::sign(bool is_signed, int out, int one) {
  const int zero = allocate();
  const int is_positive = allocate();
  asm_.zero(zero);
  compare(VectorOp::kGreater, is_signed, is_positive, one, zero);
  compare(VectorOp::kLess, is_signed, out, one, zero);
  asm_.lanes().integer_subtract(asm_, asm_.result(out), asm_.vector(out), asm_.vector(is_positive));
  release(is_positive);
  release(zero);
}

void IntegerCode::extreme(bool is_maximum, bool is_signed, int out, int one, int two) {
  const LaneInstructions& lanes = asm_.lanes();
  if (!takes_steps()) {
    const auto extreme = is_maximum ? (is_signed ? lanes.integer_maximum : lanes.unsigned_maximum)
                                    : (is_signed ? lanes.integer_minimum : lanes.unsigned_minimum);
    return extreme(asm_, asm_.result(out), asm_.vector(one), asm_.vector(two));
  }
  const int is_greater = allocate();
  greater(is_signed, is_greater, one, two);
  asm_.select(out, is_greater, is_maximum ? one : two, is_maximum ? two : one);
  release(is_greater);
}

void IntegerCode::shift_right(bool is_signed, int out, int one, int two) {
  const LaneInstructions& lanes = asm_.lanes();
  if (!is_signed) {
    return lanes.unsigned_shift_right(asm_, asm_.result(out), asm_.vector(one), asm_.vector(two));
  }
  if (!takes_steps()) {
    return lanes.integer_shift_right(asm_, asm_.result(out), asm_.vector(one), asm_.vector(two));
  }
  const int is_negative = allocate();
  asm_.zero(is_negative);
  greater(true, is_negative, is_negative, one);
  asm_.bit_xor(out, one, is_negative);
  lanes.unsigned_shift_right(asm_, asm_.vector(out), asm_.vector(out), asm_.vector(two));
  asm_.bit_xor(out, out, is_negative);
  release(is_negative);
}

// With AVX2 the halves of 64 bits become the fractions of two doubles, whose sum is rounded once.
void IntegerCode::to_float(LaneType type, int out, std::span<const int> in) {
  const auto [result, one] = std::array{asm_.result(out), asm_.vector(in[0])};
  if (type == LaneType::kInt32) {
    return asm_.vcvtdq2ps(result, one);
  }
  if (type == LaneType::kUInt32) {
    return asm_.vcvtudq2ps(result, one);
  }
  if (has_masks()) {
    return type == LaneType::kInt64 ? asm_.vcvtqq2pd(result, one) : asm_.vcvtuqq2pd(result, one);
  }
  constexpr std::uint8_t kHalf = 32;
  constexpr std::uint8_t kLowHalves = 0x55;
  const int scratch = allocate();
  const auto [low, low_bits, high_bits, both] =
      std::array{asm_.vector(scratch), asm_.vector(in[1]), asm_.vector(in[2]), asm_.vector(in[3])};
  asm_.vpblendd(low, low_bits, one, kLowHalves);
  asm_.vpsrlq(result, one, kHalf);
  asm_.vpxor(result, result, high_bits);
  asm_.vsubpd(result, result, both);
  asm_.vaddpd(result, result, low);
  release(scratch);
}

void IntegerCode::compute(const VectorOperation& operation, int out, std::span<const int> in) {
  using enum VectorOp;
  const int first = in[0];
  const int second = in.size() > 1 ? in[1] : in[0];
  const bool is_signed = info(operation.type).kind == LaneKind::kSigned;
  const LaneInstructions& lanes = asm_.lanes();
  const auto [result, one, two] = std::array{asm_.result(out), asm_.vector(first), asm_.vector(second)};
  switch (operation.what) {
    case kAdd:
      return lanes.integer_add(asm_, result, one, two);
    case kSubtract:
      return lanes.integer_subtract(asm_, result, one, two);
    case kMultiply:
    case kSquare:
      return multiply(out, first, second);
    case kNegative:
      return negative(out, first);
    case kAbsolute:
      return absolute(is_signed, out, first);
    case kSign:
      return sign(is_signed, out, first);
    case kMaximum:
    case kMinimum:
    case kFmax:
    case kFmin:
      return extreme(operation.what == kMaximum || operation.what == kFmax, is_signed, out, first, second);
    case kClip: {
      const int raised = allocate();
      extreme(true, is_signed, raised, first, second);
      extreme(false, is_signed, out, raised, in[2]);
      return release(raised);
    }
    case kBitAnd:
      return asm_.bit_and(out, first, second);
    case kBitOr:
      return asm_.bit_or(out, first, second);
    case kBitXor:
      return asm_.bit_xor(out, first, second);
    case kBitNot:
      return asm_.bit_not(out, first);
    case kShiftLeft:
      return lanes.integer_shift_left(asm_, result, one, two);
    case kShiftRight:
      return shift_right(is_signed, out, first, second);
    case kSelect:
      return asm_.select(out, first, second, in[2]);
    case kFromBool:
      return asm_.from_bool(out, first, operation.type);
    case kCopy:
    case kNarrow:
      return asm_.copy(out, first);
    case kToFloat:
      return to_float(operation.type, out, in);
    case kIsTrue: {
      const int zero = allocate();
      asm_.zero(zero);
      compare(kNotEqual, is_signed, out, first, zero);
      return release(zero);
    }
    default:
      return compare(operation.what, is_signed, out, first, second);
  }
}

}  // namespace tagalong::array

#endif
