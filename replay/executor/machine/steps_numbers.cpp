// Operations on Python's numbers and NumPy's scalars.
#include <opcode.h>

#include <cstdlib>
#include <optional>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/executor/machine/steps_without_user_code.h"
#include "replay/objects/operations.h"
#include "replay/objects/sequence_items.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {

namespace {

// Operations on such operands run no user code.
bool are_exact_numbers(PyObject* left, PyObject* right) {
  return cpython::is_exact_number(left) && (right == nullptr || cpython::is_exact_number(right));
}

bool may_take_long(const Step& step, PyObject* left, PyObject* right) {
  constexpr Py_ssize_t kDigits = 16;
  constexpr digit kPower = 64;
  const auto is_long = [](PyObject* number) { return std::abs(Py_SIZE(number)) > kDigits; };
  const bool is_high = step.immediate % NB_INPLACE_ADD == NB_POWER && Py_SIZE(right) > 0 &&
                       (Py_SIZE(right) > 1 || reinterpret_cast<PyLongObject*>(right)->ob_digit[0] > kPower);
  return is_long(left) || is_long(right) || is_high;
}

PyObject* quick_binary(const Step& step, PyObject* left, PyObject* right) {
  const cpython::SignalsWait wait;
  return binary_operation(step.immediate, left, right);
}

// Signal handlers may interrupt it, and they see the frames.
StepResult long_binary(RunState& state, const Step& step, PyObject* left, PyObject* right) {
  return sync_frames(state, step) ? store(state, step, binary_operation(step.immediate, left, right))
                                  : StepResult::kRaised;
}

}  // namespace

StepResult execute_number(RunState& state, const Step& step, PyObject* const* operands) {
  PyObject* left = operands[0];
  PyObject* right = operands[1];
  const auto truth = [&](bool value) { return store(state, step, Py_NewRef(value ? Py_True : Py_False)); };
  // Operations on exact numbers run no user code; when one raises, the original instruction raises again.
  const auto exact = [&](PyObject* result) {
    if (result == nullptr && !step.expects_raise) {
      PyErr_Clear();
      return StepResult::kReexecute;
    }
    return store(state, step, result);
  };
  switch (step.op) {
    case Op::bool_not:
      return truth(left != Py_True);
    case Op::is_op:
      return truth((left == right) != (step.immediate != 0));
    case Op::int_binary:
      return may_take_long(step, left, right) ? long_binary(state, step, left, right)
                                              : exact(quick_binary(step, left, right));
    case Op::float_binary:
      return exact(float_binary(step.immediate, left, right));
    case Op::int_compare:
      return exact(int_compare(step.immediate, left, right));
    case Op::float_compare:
      return exact(float_compare(step.immediate, left, right));
    case Op::number_truth:
      return truth(number_truth(left));
    default:
      break;
  }
  if ((step.op == Op::to_bool || step.op == Op::unary_not) && (PyBool_Check(left) || left == Py_None)) {
    return truth((left == Py_True) == (step.op == Op::to_bool));
  }
  if (!are_exact_numbers(left, right) && !operator_runs_no_user_code(state, step, left, right) &&
      !sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  switch (step.op) {
    case Op::binary_op:
      return store(state, step, binary_operation(step.immediate, left, right));
    case Op::compare_op:
      return store(state, step, compare(step.immediate, left, right));
    case Op::unary_op:
      return store(state, step, unary_operation(step.immediate, left));
    case Op::contains_op: {
      const int found = PySequence_Contains(right, left);
      return found < 0 ? StepResult::kRaised : truth((found != 0) != (step.immediate != 0));
    }
    default: {
      const int value = PyObject_IsTrue(left);
      return value < 0 ? StepResult::kRaised : truth((value != 0) == (step.op == Op::to_bool));
    }
  }
}

namespace {

constexpr std::int64_t kBits = 64;

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
bool int64_result(const Step& step, std::int64_t left, std::int64_t right, std::int64_t* result) {
  const int operation = step.immediate % NB_INPLACE_ADD;
  const bool shifts = operation == NB_LSHIFT || operation == NB_RSHIFT;
  if (step.op == Op::int64_binary && shifts && (right < 0 || right >= kBits - 1)) {
    return false;
  }
  const cpython::SignalsWait wait;
  const Ref first = Ref::steal(PyLong_FromLongLong(left));
  const Ref second = Ref::steal(PyLong_FromLongLong(right));
  Ref made;
  if (first && second) {
    made = Ref::steal(step.op == Op::int64_binary ? binary_operation(operation, first.get(), second.get())
                                                  : int_compare(step.immediate, first.get(), second.get()));
  }
  if (!made) {
    PyErr_Clear();
    return false;
  }
  if (PyBool_Check(made.get())) {
    *result = made.get() == Py_True ? 1 : 0;
    return true;
  }
  return PyLong_CheckExact(made.get()) && cpython::int64_of(made.get(), result);
}

}  // namespace

StepResult execute_scalars(RunState& state, const Step& step, PyObject* left, PyObject* right) {
  const Unboxed kinds[] = {unboxed_of(Py_TYPE(left)), unboxed_of(Py_TYPE(right))};
  UnboxedNumber numbers[2];
  const auto is_number = [](Unboxed kind) { return is_int(kind) || is_float(kind); };
  if (!is_number(kinds[0]) || !is_number(kinds[1]) || !unbox(left, kinds[0], &numbers[0]) ||
      !unbox(right, kinds[1], &numbers[1])) {
    return StepResult::kReexecute;
  }
  const bool are_ints = is_int(kinds[0]) && is_int(kinds[1]);
  if (step.op == Op::int64_binary || (step.op == Op::scalar_compare && are_ints)) {
    UnboxedNumber number;
    if (!int64_result(step, numbers[0].i, numbers[1].i, &number.i)) {
      return StepResult::kReexecute;
    }
    return store(state, step,
                 object_of(step.op == Op::int64_binary ? Unboxed::kNumpyInt : Unboxed::kNumpyBool, number));
  }
  for (int index = 0; index < 2; ++index) {
    if (is_int(kinds[index])) {
      numbers[index].d = static_cast<double>(numbers[index].i);
    }
  }
  const double x = numbers[0].d;
  const double y = numbers[1].d;
  if (step.op == Op::scalar_compare) {
    return store(state, step, object_of(Unboxed::kNumpyBool, {.i = is_so(step.immediate, x, y) ? 1 : 0}));
  }
  UnboxedNumber result;
  const std::optional<Float64Operator> operation = float64_operator(step.immediate);
  if (!operation || !float64_arithmetic(*operation, x, y, &result.d)) {
    return StepResult::kReexecute;
  }
  return store(state, step, object_of(Unboxed::kNumpyFloat, result));
}

}  // namespace tagalong::replay
