#include "replay/objects/numpy_scalars.h"

#include <opcode.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "replay/objects/operations.h"
#include "replay/objects/unboxed.h"
#include "rewriter/base/ref.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {
namespace {

// Two numbers: ints of 64 bits, or doubles.
struct Operands {
  std::array<Unboxed, 2> kinds;
  std::array<UnboxedNumber, 2> numbers;
  [[nodiscard]] bool are_ints() const { return is_int(kinds[0]) && is_int(kinds[1]); }
  [[nodiscard]] double real(std::size_t index) const {
    return is_int(kinds.at(index)) ? static_cast<double>(numbers.at(index).i) : numbers.at(index).d;
  }
};

std::optional<Operands> unboxed_operands(PyObject* left, PyObject* right) {
  Operands operands{.kinds = {unboxed_of(Py_TYPE(left)), unboxed_of(Py_TYPE(right))}, .numbers = {}};
  const auto is_number = [](Unboxed kind) { return is_int(kind) || is_float(kind); };
  const bool are_numbers = is_number(operands.kinds[0]) && is_number(operands.kinds[1]) &&
                           unbox(left, operands.kinds[0], operands.numbers.data()) &&
                           unbox(right, operands.kinds[1], &operands.numbers[1]);
  return are_numbers ? std::optional(operands) : std::nullopt;
}

bool is_so(int comparison, double x, double y) {
  switch (comparison) {
    case Py_LT:
      return x < y;
    case Py_LE:
      return x <= y;
    case Py_EQ:
      return x == y;
    case Py_NE:
      return x != y;
    case Py_GT:
      return x > y;
    default:
      return x >= y;
  }
}

std::optional<Float64Operator> float64_operator(int argument) {
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      return Float64Operator::kAdd;
    case NB_SUBTRACT:
      return Float64Operator::kSubtract;
    case NB_MULTIPLY:
      return Float64Operator::kMultiply;
    case NB_TRUE_DIVIDE:
      return Float64Operator::kDivide;
    default:
      return std::nullopt;
  }
}

// Computed with Python's ints: where the result fits 64 bits, NumPy's is the same.
template <class Compute>
std::optional<std::int64_t> with_ints(const Operands& operands, const Compute& compute) {
  const cpython::SignalsWait wait;
  const Ref left = Ref::steal(PyLong_FromLongLong(operands.numbers[0].i));
  const Ref right = Ref::steal(PyLong_FromLongLong(operands.numbers[1].i));
  const Ref made = left && right ? Ref::steal(compute(left.get(), right.get())) : Ref();
  if (!made) {
    PyErr_Clear();
    return std::nullopt;
  }
  if (PyBool_Check(made.get())) {
    return made.get() == Py_True ? 1 : 0;
  }
  std::int64_t number = 0;
  return PyLong_CheckExact(made.get()) && cpython::int64_of(made.get(), &number) ? std::optional(number) : std::nullopt;
}

}  // namespace

PyObject* float64_binary(int argument, PyObject* left, PyObject* right) {
  const std::optional<Operands> operands = unboxed_operands(left, right);
  const std::optional<Float64Operator> operation = float64_operator(argument);
  UnboxedNumber result{};
  return operands && operation && float64_arithmetic(*operation, operands->real(0), operands->real(1), &result.d)
             ? object_of(Unboxed::kNumpyFloat, result)
             : nullptr;
}

PyObject* int64_binary(int argument, PyObject* left, PyObject* right) {
  constexpr std::int64_t kBits = 64;
  const std::optional<Operands> operands = unboxed_operands(left, right);
  const int operation = argument % NB_INPLACE_ADD;
  const bool shifts = operation == NB_LSHIFT || operation == NB_RSHIFT;
  if (!operands || !operands->are_ints() ||
      (shifts && (operands->numbers[1].i < 0 || operands->numbers[1].i >= kBits - 1))) {
    return nullptr;
  }
  const std::optional<std::int64_t> result =
      with_ints(*operands, [&](PyObject* one, PyObject* other) { return binary_operation(operation, one, other); });
  return result ? object_of(Unboxed::kNumpyInt, {.i = *result}) : nullptr;
}

PyObject* scalar_compare(int comparison, PyObject* left, PyObject* right) {
  const std::optional<Operands> operands = unboxed_operands(left, right);
  if (!operands) {
    return nullptr;
  }
  if (!operands->are_ints()) {
    const bool result = is_so(comparison, operands->real(0), operands->real(1));
    return object_of(Unboxed::kNumpyBool, {.i = result ? 1 : 0});
  }
  const std::optional<std::int64_t> result =
      with_ints(*operands, [&](PyObject* one, PyObject* other) { return int_compare(comparison, one, other); });
  return result ? object_of(Unboxed::kNumpyBool, {.i = *result}) : nullptr;
}

}  // namespace tagalong::replay
