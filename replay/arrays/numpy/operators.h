// Which ufunc an operator of arrays is, and what eager NumPy may do with its operands. Single operations (ufunc_site.h)
// and fusion groups (plan_builder.h) share these tables and the rule for powers.
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>

#include "replay/arrays/numpy/elision.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/ir/operators.h"

namespace tagalong::array {

// NB_* of CPython's BINARY_OP, with the same numbers.
enum class BinaryOperator : std::uint8_t {
  kAdd = 0,
  kAnd = 1,
  kFloorDivide = 2,
  kLshift = 3,
  kMatrixMultiply = 4,
  kMultiply = 5,
  kRemainder = 6,
  kOr = 7,
  kPower = 8,
  kRshift = 9,
  kSubtract = 10,
  kTrueDivide = 11,
  kXor = 12,
  kInplaceAdd = 13,  // and so on, in the same order
  kInplaceXor = 25,
};
inline constexpr unsigned kInplaceOffset = 13;

using replay::UnaryOperator;

struct OperatorRow {
  UfuncName ufunc;  // kCount: there is no direct path
  Elision elision;
  InplaceFunction inplace;
};
// `op` may be an in-place operator, too.
[[nodiscard]] const OperatorRow& operator_row(BinaryOperator op);
[[nodiscard]] constexpr bool is_inplace(BinaryOperator op) { return static_cast<unsigned>(op) >= kInplaceOffset; }

[[nodiscard]] UfuncName comparison(int py_op);
// The comparison that gives the same result with swapped operands.
[[nodiscard]] int reflected(int py_op);
[[nodiscard]] UfuncName unary_ufunc(UnaryOperator op);
PyObject* inplace_power(PyObject* base, PyObject* exponent);

enum class PowerKind : std::uint8_t { kGeneral, kFast, kUnknown };
// How eager NumPy computes `array ** exponent`: by np.power, by the unary ufunc in `fast`, or in a way that is left to
// NumPy.
[[nodiscard]] PowerKind power_kind(const Numpy& np, OperandCode base, OperandCode code, PyObject* exponent,
                                   UfuncName* fast);

}  // namespace tagalong::array
