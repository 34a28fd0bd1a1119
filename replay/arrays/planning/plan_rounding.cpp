// Adds array.round(decimals) to a plan, as NumPy computes it.
#include <cmath>
#include <cstdlib>

#include "replay/arrays/planning/plan_builder.h"

namespace tagalong::array {

// Floats are rounded to integers. For other decimals they are multiplied by a power of ten before and divided by it
// afterwards, or the other way round. Integers give themselves, and bools float16 numbers.
int FusionPlanBuilder::round(const ArrayVerb& verb) {
  constexpr int kMostDecimals = 22;  // larger powers of ten are not exact
  const int operand = verb.operands[0];
  const int decimals = std::abs(verb.code);
  if (!operands_.is_array_object(operand) || (at(operand).code != kFloat && at(operand).code != kDouble) ||
      decimals > kMostDecimals) {
    return refuse(FusionReason::kOther);
  }
  const Ref rint = Ref::steal(PyObject_GetAttrString(np_.umath, name_of(UfuncName::kRint)));
  PyErr_Clear();
  if (!rint) {
    return refuse(FusionReason::kOther);
  }
  if (decimals == 0) {
    return apply({.ufunc = rint.get(), .operands = {operand}, .nin = 1});
  }
  double power = 1;
  for (int i = 0; i < decimals; ++i) {
    power *= 10;  // NOLINT(readability-magic-numbers)
  }
  Ref number = Ref::steal(PyFloat_FromDouble(power));
  PyErr_Clear();
  const int factor = number ? operands_.constant(number.get()) : -1;
  if (factor < 0) {
    return refuse(FusionReason::kMemory);
  }
  numbers_.push_back(std::move(number));
  PyObject* const before = np_.ufunc(verb.code > 0 ? UfuncName::kMultiply : UfuncName::kTrueDivide);
  PyObject* const behind = np_.ufunc(verb.code > 0 ? UfuncName::kTrueDivide : UfuncName::kMultiply);
  const int scaled = apply({.ufunc = before, .operands = {operand, factor}, .nin = 2});
  if (scaled < 0) {
    return scaled;
  }
  plan_->operations.back().is_row_major = true;
  const int rounded = apply({.ufunc = rint.get(), .operands = {scaled}, .nin = 1});
  return rounded < 0 ? rounded : apply({.ufunc = behind, .operands = {rounded, factor}, .nin = 2});
}

}  // namespace tagalong::array
