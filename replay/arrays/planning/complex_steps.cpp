#include "replay/arrays/planning/complex_steps.h"

#include <algorithm>

namespace tagalong::array {

bool is_complex_operand(VectorOp what, unsigned operand) {
  return what != VectorOp::kComplexOf && !(what == VectorOp::kSelect && operand == 0);
}

bool gives_complex(VectorOp what) {
  return !is_bool(what) && what != VectorOp::kModulus && what != VectorOp::kReal && what != VectorOp::kImaginary;
}

void ComplexSteps::emit(VectorOp what, Operands in, Slot out) {
  VectorOperation step{.what = what, .nin = static_cast<std::uint8_t>(in.size()), .out = out, .type = type_};
  std::ranges::copy(in, step.in.begin());
  operations_.push_back(step);
}

Slot ComplexSteps::emit(VectorOp what, Operands in) {
  const Slot out = next_++;
  emit(what, in, out);
  return out;
}

void ComplexSteps::on_both_parts(const VectorOperation& operation) {
  VectorOperation part = operation;
  operations_.push_back(part);
  part.out = imaginary_of(part.out);
  for (unsigned i = 0; i < part.nin; ++i) {
    if (is_complex_operand(part.what, i)) {
      part.in.at(i) = imaginary_of(part.in.at(i));
    }
  }
  operations_.push_back(part);
}

// The real part is rounded once less than a product and a difference would be, and so is the imaginary part.
void ComplexSteps::multiply(Slot one, Slot two, Slot out) {
  using enum VectorOp;
  const Slot imaginaries = emit(kMultiply, {imaginary_of(one), imaginary_of(two)});
  const Slot crossed = emit(kMultiply, {imaginary_of(one), two});
  emit(kMultiplySubtract, {one, two, imaginaries}, out);
  emit(kMultiplyAdd, {one, imaginary_of(two), crossed}, imaginary_of(out));
}

// Smith's algorithm: it divides by the larger part of the divisor first. A divisor of zeros is ambiguous.
void ComplexSteps::divide(Slot one, Slot two, Slot out) {
  using enum VectorOp;
  const Slot imaginary = imaginary_of(one);
  const Slot is_real_larger = emit(kGreaterEqual, {emit(kAbsolute, {two}), emit(kAbsolute, {imaginary_of(two)})});
  const Slot larger = emit(kSelect, {is_real_larger, two, imaginary_of(two)});
  const Slot smaller = emit(kSelect, {is_real_larger, imaginary_of(two), two});
  const Slot ratio = emit(kNumber, {emit(kDivide, {smaller, larger})});
  const Slot scale = emit(kReciprocal, {emit(kAdd, {larger, emit(kMultiply, {smaller, ratio})})});
  const Slot first = emit(kSelect, {is_real_larger, one, imaginary});
  const Slot second = emit(kSelect, {is_real_larger, imaginary, one});
  const Slot scaled = emit(kMultiply, {first, ratio});
  const Slot minuend = emit(kSelect, {is_real_larger, second, scaled});
  const Slot subtrahend = emit(kSelect, {is_real_larger, scaled, second});
  const Slot real_sum = emit(kAdd, {first, emit(kMultiply, {second, ratio})});
  const Slot difference = emit(kSubtract, {minuend, subtrahend});
  emit(kMultiply, {real_sum, scale}, out);
  emit(kMultiply, {difference, scale}, imaginary_of(out));
}

void ComplexSteps::compare(VectorOp what, Slot one, Slot two, Slot out) {
  const Slot reals = emit(what, {one, two});
  const Slot imaginaries = emit(what, {imaginary_of(one), imaginary_of(two)});
  emit(what == VectorOp::kEqual ? VectorOp::kAnd : VectorOp::kOr, {reals, imaginaries}, out);
}

void ComplexSteps::add(const VectorOperation& operation) {
  using enum VectorOp;
  const auto [one, two, third, fourth] = operation.in;
  const Slot out = operation.out;
  type_ = operation.type;
  switch (operation.what) {
    case kMultiply:
      return multiply(one, two, out);
    case kSquare:
      return multiply(one, one, out);
    case kDivide:
      return divide(one, two, out);
    case kConjugate:
      emit(kCopy, {one}, out);
      return emit(kNegative, {imaginary_of(one)}, imaginary_of(out));
    case kComplexOf:
      emit(kCopy, {one}, out);
      return emit(kZero, {}, imaginary_of(out));
    case kModulus:
      return emit(kModulus, {one, imaginary_of(one)}, out);
    case kReal:
      return emit(kCopy, {one}, out);
    case kImaginary:
      return emit(kCopy, {imaginary_of(one)}, out);
    case kEqual:
    case kNotEqual:
      return compare(operation.what, one, two, out);
    default:
      return on_both_parts(operation);
  }
}

}  // namespace tagalong::array
