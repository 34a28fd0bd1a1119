// Python's arithmetic of ints on 64-bit numbers.
#pragma once

#include <Python.h>

#include <cstdint>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {

inline constexpr std::int64_t kDigit = std::int64_t{1} << 30;         // ints below it have one digit
inline constexpr std::int64_t kExactInFloat = std::int64_t{1} << 53;  // ints up to it are floats without rounding
inline constexpr std::int64_t kBits = 64;

inline bool fits_digit(std::int64_t number) { return -kDigit < number && number < kDigit; }
inline bool fits_float(std::int64_t number) { return -kExactInFloat <= number && number <= kExactInFloat; }
inline std::uint64_t magnitude(std::int64_t number) {
  return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

// Rounds towards minus infinity, as Python does. The caller has excluded zero and what overflows.
inline std::int64_t floor_divide(std::int64_t left, std::int64_t right) {
  const std::int64_t quotient = left / right;
  return quotient - ((left % right != 0 && (left < 0) != (right < 0)) ? 1 : 0);
}

inline std::int64_t floor_remainder(std::int64_t left, std::int64_t right) {
  const std::int64_t remainder = left % right;
  return remainder + ((remainder != 0 && (remainder < 0) != (right < 0)) ? right : 0);
}

// False: the shift is negative, or the result does not fit.
inline bool shift_left(std::int64_t left, std::int64_t right, std::int64_t* result) {
  if (right < 0 || (right >= kBits - 1 && left != 0)) {
    return false;
  }
  const auto shifted = left == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(left) << right);
  *result = shifted;
  return left == 0 || (shifted >> right) == left;
}

// CPython divides large ints, and rounds once. False: the original instruction raises.
inline bool true_divide(std::int64_t left, std::int64_t right, double* result) {
  if (right == 0) {
    return false;
  }
  if (fits_float(left) && fits_float(right)) {
    *result = static_cast<double>(left) / static_cast<double>(right);
    return true;
  }
  const cpython::SignalsWait wait;
  const Ref dividend = Ref::steal(PyLong_FromLongLong(left));
  const Ref divisor = Ref::steal(PyLong_FromLongLong(right));
  const Ref quotient = dividend && divisor ? Ref::steal(PyNumber_TrueDivide(dividend.get(), divisor.get())) : Ref();
  if (!quotient) {
    PyErr_Clear();
    return false;
  }
  *result = PyFloat_AS_DOUBLE(quotient.get());
  return true;
}

}  // namespace tagalong::replay
