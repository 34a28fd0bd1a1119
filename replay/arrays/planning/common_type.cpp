#include "replay/arrays/planning/common_type.h"

#include "replay/arrays/kernels/kernel.h"

namespace tagalong::array {

namespace {

constexpr unsigned kUnknown = kTypeNumbers;

// NumPy 1.x looks at the value of a number beside an array. These numbers have the array's dtype whatever they are;
// read_scalar() refuses the integers that are too large for that.
unsigned type_by_value(OperandCode array, OperandCode number) {
  const bool fits =
      (number == kPyFloat && array == kDouble) || (number == kPyInt && (array == kDouble || array == kLong));
  return fits ? array : kUnknown;
}

// As an array; a Python number gets the dtype that NumPy gives it when no other operand decides.
OperandCode as_array_code(OperandCode code) { return static_cast<OperandCode>(type_of(code)); }

bool is_plain(OperandCode code) { return is_array(code) || is_numpy_scalar(code) || is_python_number(code); }

}  // namespace

unsigned common_type(const Numpy& np, OperandCode one, OperandCode other) {
  if (!is_plain(one) || !is_plain(other)) {
    return kUnknown;
  }
  if (!np.weak_scalars && is_array(one) != is_array(other)) {
    return is_array(one) ? type_by_value(one, other) : type_by_value(other, one);
  }
  // A Python number takes part by its kind only, unless both are Python numbers. A bool is no such number.
  const bool are_strong = !np.weak_scalars || (is_python_number(one) && is_python_number(other));
  const auto code_of = [&](OperandCode code) {
    return are_strong || !is_python_number(code) || code == kPyBool ? as_array_code(code) : code;
  };
  OperandCodes codes;
  codes.set(0, code_of(one));
  codes.set(1, code_of(other));
  if (codes[0] == codes[1]) {
    return codes[0];
  }
  // Of all ufuncs, the sum promotes numbers in the same way.
  const Kernel& sum = kernel_for(np, np.ufunc(UfuncName::kAdd), codes);
  if (!sum.usable && !sum.casts) {
    return kUnknown;
  }
  const bool are_same_size = np.item_size[type_of(codes[0])] == np.item_size[type_of(codes[1])];
  const bool are_two_names = are_same_size && is_integer(codes[0]) && is_integer(codes[1]) && is_integer(sum.out_type);
  return are_two_names ? kUnknown : sum.out_type;  // which of long and long long it is differs
}

}  // namespace tagalong::array
