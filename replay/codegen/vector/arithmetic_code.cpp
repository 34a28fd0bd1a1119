#include "replay/codegen/vector/arithmetic_code.h"

#ifdef __x86_64__

#include <algorithm>

#include "replay/ir/stages.h"

namespace tagalong::array {
namespace {

// Directions of vroundpd and vrndscalepd, which do not report that a result is inexact.
constexpr std::uint8_t kToNearest = 0x08, kDown = 0x09, kUp = 0x0A, kToZero = 0x0B;

}  // namespace

void ArithmeticCode::prepare_divisors() {
  for (const Slot slot : spec_.divisors) {
    const KernelValue& value = values_.of_slot(slot, 0);
    if (!value.is_hoisted) {
      registers_.give_up();  // the caller then uses the code with divisions
      return;
    }
    const Reciprocal made{.of = value.reg, .high = allocate(), .low = allocate()};
    const auto [of, high, low] = std::array{asm_.vector(made.of), asm_.vector(made.high), asm_.vector(made.low)};
    memory_.load(made.low, Constant::kOne);
    asm_.vdivpd(high, low, of);
    asm_.vfnmadd231pd(low, high, of);
    asm_.vmulpd(low, low, high);
    reciprocals_.push_back(made);
  }
  if (!spec_.divisors.empty()) {
    sign_bits_ = allocate();
    memory_.load(sign_bits_, Constant::kSignBit);
  }
}

// Reciprocals are of doubles, and need instructions of AVX-512 (VectorCode::generate).
void ArithmeticCode::divide(int out, int one, int two) {
  constexpr int kSelectLast = 0xD8;  // vpternlog, bitwise: c ? b : a
  const Vector dividend = asm_.vector(one);
  const auto known = std::ranges::find(reciprocals_, two, &Reciprocal::of);
  if (known == reciprocals_.end()) {
    asm_.lanes().divide(asm_, asm_.result(out), dividend, asm_.vector(two));
    return;
  }
  const int remainder = allocate();
  asm_.vmulpd(asm_.result(out), dividend, asm_.vector(known->low));
  asm_.vfmadd231pd(asm_.merged(out), dividend, asm_.vector(known->high));
  asm_.copy(remainder, one);
  asm_.vfnmadd231pd(asm_.merged(remainder), asm_.vector(out), asm_.vector(two));
  asm_.vfmadd231pd(asm_.merged(out), asm_.vector(remainder), asm_.vector(known->high));
  asm_.vpternlogq(asm_.vector(out), dividend, asm_.vector(sign_bits_), kSelectLast);
  release(remainder);
}

void ArithmeticCode::extreme(bool is_maximum, int out, int one, int two) {
  asm_.mark_nans(one, two, out);
  const int scratch = allocate();
  asm_.mark_different_zeros(one, two, scratch, out);
  release(scratch);
  const auto extreme = is_maximum ? asm_.lanes().maximum : asm_.lanes().minimum;
  extreme(asm_, asm_.result(out), asm_.vector(one), asm_.vector(two));
}

// One operand takes the place of a NaN beside it. Two NaNs are ambiguous, and so is a signalling NaN: rounding sets the
// bit that makes it quiet, and the negative of that bit is a NaN.
void ArithmeticCode::extreme_number(bool is_maximum, int out, int one, int two) {
  const LaneInstructions& lanes = asm_.lanes();
  const int first = allocate();
  const int second = allocate();
  const int changed = allocate();
  const auto choose = [&](int chosen, int number, int other) {
    lanes.round(asm_, asm_.result(changed), asm_.vector(number), kToNearest);
    asm_.bit_xor(changed, changed, number);
    asm_.compare(chosen, number, number, kCompareUnordered);
    asm_.bit_and(changed, changed, chosen);
    asm_.zero(out);
    lanes.integer_subtract(asm_, asm_.vector(changed), asm_.vector(out), asm_.vector(changed));
    asm_.mark_nans(changed, changed, out);
    asm_.select(chosen, chosen, other, number);
  };
  choose(first, one, two);
  choose(second, two, one);
  extreme(is_maximum, out, first, second);
  release(changed);
  release(second);
  release(first);
}

void ArithmeticCode::same(int out, int one, int two) {
  const int different = allocate();
  asm_.bit_xor(different, one, two);
  asm_.bit_not(out, different);
  release(different);
}

void ArithmeticCode::is_true(int out, int one) {
  const int zero = allocate();
  asm_.zero(zero);
  asm_.compare(out, one, zero, kCompareNotEqual);
  release(zero);
}

void ArithmeticCode::clip(int out, int one, int lowest, int highest) {
  const int raised = allocate();
  extreme(true, raised, one, lowest);
  extreme(false, out, raised, highest);
  release(raised);
}

void ArithmeticCode::sign(int out, int one, int plus_one, int minus_one) {
  asm_.mark_nans(one, one, out);
  const int zero = allocate();
  asm_.zero(zero);
  asm_.sign(out, one, zero, plus_one, minus_one);
  release(zero);
}

void ArithmeticCode::multiply_add(const LaneInstructions::Binary& instruction, int out, std::span<const int> in) {
  asm_.copy(out, in[0]);
  instruction(asm_, asm_.merged(out), asm_.vector(in[1]), asm_.vector(in[2]));
}

void ArithmeticCode::modulus(int out, std::span<const int> in) {
  const LaneInstructions& lanes = asm_.lanes();
  const int sign_bit = in[2];
  const int one = in[3];
  const int scale = allocate();
  const int ratio = allocate();
  const int scratch = allocate();
  asm_.bit_and_not(scale, sign_bit, in[0]);
  asm_.bit_and_not(ratio, sign_bit, in[1]);
  asm_.mark_nans(scale, ratio, out);
  lanes.maximum(asm_, asm_.result(out), asm_.vector(scale), asm_.vector(ratio));
  lanes.minimum(asm_, asm_.result(ratio), asm_.vector(scale), asm_.vector(ratio));
  // The ratio of two zeros is zero, without a flag.
  asm_.zero(scale);
  asm_.compare(scratch, out, scale, kCompareEqual);
  asm_.select(scale, scratch, one, out);
  lanes.divide(asm_, asm_.result(ratio), asm_.vector(ratio), asm_.vector(scale));
  asm_.mark_nans(ratio, ratio, scratch);
  asm_.copy(scale, ratio);
  lanes.multiply_add(asm_, asm_.merged(scale), asm_.vector(ratio), asm_.vector(one));
  lanes.square_root(asm_, asm_.result(scale), asm_.vector(scale));
  lanes.multiply(asm_, asm_.result(out), asm_.vector(scale), asm_.vector(out));
  release(scratch);
  release(ratio);
  release(scale);
}

// NumPy reports every inexact result below the normal numbers, the processor not those that it rounds to a normal one.
void ArithmeticCode::round_half(int out, std::span<const int> in) {
  const int magnitude = allocate();
  const int scratch = allocate();
  asm_.bit_and_not(magnitude, in[1], in[0]);
  asm_.mark_small(magnitude, in[2], scratch, out);
  asm_.round_half(out, in[0]);
  release(scratch);
  release(magnitude);
}

void ArithmeticCode::compute(const VectorOperation& operation, int out, std::span<const int> in) {
  using enum VectorOp;
  const int first = in.empty() ? out : in[0];
  const int second = in.size() > 1 ? in[1] : first;
  const Vector result = asm_.result(out);
  const Vector one = asm_.vector(first);
  const Vector two = asm_.vector(second);
  const LaneInstructions& lanes = asm_.lanes();
  switch (operation.what) {
    case kAdd:
      return replay::is_faulty(replay::Stage::vector_code) ? lanes.subtract(asm_, result, one, two)
                                                           : lanes.add(asm_, result, one, two);
    case kSubtract:
      return lanes.subtract(asm_, result, one, two);
    case kMultiply:
      return lanes.multiply(asm_, result, one, two);
    case kDivide:
      return divide(out, first, second);
    case kSqrt:
      return lanes.square_root(asm_, result, one);
    case kSquare:
      return lanes.multiply(asm_, result, one, one);
    case kReciprocal:
      return lanes.divide(asm_, result, two, one);
    case kNegative:
      return asm_.bit_xor(out, first, second);
    case kAbsolute:
      return asm_.bit_and_not(out, second, first);
    case kSign:
      return sign(out, first, in[1], in[2]);
    case kMaximum:
    case kMinimum:
      return extreme(operation.what == kMaximum, out, first, second);
    case kFmax:
    case kFmin:
      return extreme_number(operation.what == kFmax, out, first, second);
    case kIsTrue:
      return is_true(out, first);
    case kClip:
      return clip(out, first, second, in[2]);
    case kFloor:
      return lanes.round(asm_, result, one, kDown);
    case kCeil:
      return lanes.round(asm_, result, one, kUp);
    case kTrunc:
      return lanes.round(asm_, result, one, kToZero);
    case kRint:
      return lanes.round(asm_, result, one, kToNearest);
    case kLess:
      return asm_.compare(out, first, second, kCompareLess);
    case kLessEqual:
      return asm_.compare(out, first, second, kCompareLessEqual);
    case kEqual:
      return asm_.compare(out, first, second, kCompareEqual);
    case kNotEqual:
      return asm_.compare(out, first, second, kCompareNotEqual);
    case kGreater:
      return asm_.compare(out, first, second, kCompareGreater);
    case kGreaterEqual:
      return asm_.compare(out, first, second, kCompareGreaterEqual);
    case kAnd:
      return asm_.bit_and(out, first, second);
    case kOr:
      return asm_.bit_or(out, first, second);
    case kNot:
      return asm_.bit_not(out, first);
    case kXor:
      return asm_.bit_xor(out, first, second);
    case kSame:
      return same(out, first, second);
    case kSelect:
      return asm_.select(out, first, second, in[2]);
    case kFromBool:
      return asm_.from_bool(out, first, operation.type);
    case kCopy:
    case kNarrow:
      return asm_.copy(out, first);
    case kZero:
      return asm_.zero(out);
    case kMultiplyAdd:
      return multiply_add(lanes.multiply_add, out, in);
    case kMultiplySubtract:
      return multiply_add(lanes.multiply_subtract, out, in);
    case kModulus:
      return modulus(out, in);
    case kRoundHalf:
      return round_half(out, in);
    case kRoundExact:
      return asm_.round_half(out, first);
    case kNumber:
      asm_.mark_nans(first, first, out);
      return asm_.copy(out, first);
    case kBitAnd:  // integer_code.h
    case kBitOr:
    case kBitXor:
    case kBitNot:
    case kShiftLeft:
    case kShiftRight:
    case kToFloat:
    case kExp:  // svml_code.h
    case kLog:
    case kGlibcExp:  // glibc_code.h
    case kGlibcLog:
    case kConjugate:  // complex_steps.h
    case kReal:
    case kImaginary:
    case kComplexOf:
    case kWiden:
    case kNone:
      break;
  }
}

}  // namespace tagalong::array

#endif
