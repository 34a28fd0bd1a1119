#include "replay/arrays/numpy/operators.h"

#include <opcode.h>

#include <utility>

namespace tagalong::array {

namespace {
constexpr unsigned kOperators = 13;
constexpr std::array<OperatorRow, kOperators> kOperatorRows{{
    {UfuncName::kAdd, Elision::kCommutative, PyNumber_InPlaceAdd},
    {UfuncName::kBitwiseAnd, Elision::kCommutative, PyNumber_InPlaceAnd},
    {UfuncName::kFloorDivide, Elision::kLeft, PyNumber_InPlaceFloorDivide},
    {UfuncName::kLeftShift, Elision::kLeft, PyNumber_InPlaceLshift},
    {UfuncName::kCount, Elision::kNever, PyNumber_InPlaceMatrixMultiply},  // matmul.h
    {UfuncName::kMultiply, Elision::kCommutative, PyNumber_InPlaceMultiply},
    {UfuncName::kRemainder, Elision::kNever, PyNumber_InPlaceRemainder},
    {UfuncName::kBitwiseOr, Elision::kCommutative, PyNumber_InPlaceOr},
    {UfuncName::kPower, Elision::kNever, nullptr},
    {UfuncName::kRightShift, Elision::kLeft, PyNumber_InPlaceRshift},
    {UfuncName::kSubtract, Elision::kLeft, PyNumber_InPlaceSubtract},
    {UfuncName::kTrueDivide, Elision::kLeft, PyNumber_InPlaceTrueDivide},
    {UfuncName::kBitwiseXor, Elision::kCommutative, PyNumber_InPlaceXor},
}};
static_assert(static_cast<unsigned>(BinaryOperator::kXor) + 1 == kOperators && kInplaceOffset == kOperators);
constexpr bool is(BinaryOperator op, int argument) { return static_cast<int>(op) == argument; }
static_assert(is(BinaryOperator::kAdd, NB_ADD) && is(BinaryOperator::kAnd, NB_AND) &&
              is(BinaryOperator::kFloorDivide, NB_FLOOR_DIVIDE) && is(BinaryOperator::kLshift, NB_LSHIFT) &&
              is(BinaryOperator::kMatrixMultiply, NB_MATRIX_MULTIPLY) && is(BinaryOperator::kMultiply, NB_MULTIPLY) &&
              is(BinaryOperator::kRemainder, NB_REMAINDER) && is(BinaryOperator::kOr, NB_OR) &&
              is(BinaryOperator::kPower, NB_POWER) && is(BinaryOperator::kRshift, NB_RSHIFT) &&
              is(BinaryOperator::kSubtract, NB_SUBTRACT) && is(BinaryOperator::kTrueDivide, NB_TRUE_DIVIDE) &&
              is(BinaryOperator::kXor, NB_XOR) && is(BinaryOperator::kInplaceAdd, NB_INPLACE_ADD) &&
              is(BinaryOperator::kInplaceXor, NB_INPLACE_XOR));

constexpr std::array<UfuncName, 6> kComparisons{UfuncName::kLess,     UfuncName::kLessEqual, UfuncName::kEqual,
                                                UfuncName::kNotEqual, UfuncName::kGreater,   UfuncName::kGreaterEqual};
constexpr std::array<int, 6> kReflected{Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE};
static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);

constexpr std::array<UfuncName, 4> kUnary{UfuncName::kNegative, UfuncName::kPositive, UfuncName::kInvert,
                                          UfuncName::kAbsolute};

}  // namespace

const OperatorRow& operator_row(BinaryOperator op) { return kOperatorRows[static_cast<unsigned>(op) % kInplaceOffset]; }

UfuncName comparison(int py_op) { return kComparisons[static_cast<std::size_t>(py_op)]; }

int reflected(int py_op) { return kReflected[static_cast<std::size_t>(py_op)]; }

UfuncName unary_ufunc(UnaryOperator op) { return kUnary[static_cast<std::size_t>(op)]; }

PyObject* inplace_power(PyObject* base, PyObject* exponent) { return PyNumber_InPlacePower(base, exponent, Py_None); }

// Follows fast_scalar_power in NumPy's number.c. Up to 1.26 NumPy converts any scalar to a double; 2.4 looks at the
// type first. Versions in between differ, so there only the cases in which both rules agree are taken.
PowerKind power_kind(const Numpy& np, OperandCode base, OperandCode code, PyObject* exponent, UfuncName* fast) {
  const bool by_value = np.major < 2;
  const bool by_type = np.major == 2 && np.minor >= 4;
  if (is_array(code) || !is_array(base)) {
    return PowerKind::kGeneral;
  }
  if (!is_python_number(code) || code == kPyBool || base == kBool) {
    return by_type && base != kBool ? PowerKind::kGeneral : PowerKind::kUnknown;
  }
  if (code == kPyComplex) {
    return PowerKind::kGeneral;
  }
  const bool is_int = code == kPyInt;
  int overflow = 0;
  const double value =
      is_int ? static_cast<double>(PyLong_AsLongAndOverflow(exponent, &overflow)) : PyFloat_AS_DOUBLE(exponent);
  if (overflow != 0) {
    return PowerKind::kUnknown;
  }
  const bool agreed = (is_int && (value == 2 || value == -1)) || (!is_int && value == 0.5);
  if (is_integer(base)) {
    *fast = UfuncName::kSquare;  // power gives the same integers
    return is_int && value == 2 ? PowerKind::kFast : (is_int ? PowerKind::kGeneral : PowerKind::kUnknown);
  }
  if (!agreed && by_type) {
    return PowerKind::kGeneral;
  }
  constexpr std::array<std::pair<double, UfuncName>, 5> kFastPowers{{{2, UfuncName::kSquare},
                                                                     {-1, UfuncName::kReciprocal},
                                                                     {0.5, UfuncName::kSqrt},
                                                                     {1, UfuncName::kPositive},
                                                                     {0, UfuncName::kOnesLike}}};
  for (const auto& [number, ufunc] : kFastPowers) {
    if (value == number) {
      *fast = ufunc;
      return agreed || by_value ? PowerKind::kFast : PowerKind::kUnknown;
    }
  }
  return PowerKind::kGeneral;
}

}  // namespace tagalong::array
