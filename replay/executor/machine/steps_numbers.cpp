// Operations on Python's numbers and NumPy's scalars.
#include <opcode.h>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/executor/machine/steps_without_user_code.h"
#include "replay/objects/numpy_scalars.h"
#include "replay/objects/operations.h"
#include "replay/objects/sequence_items.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/requests.h"
#include "version/builtins.h"

namespace tagalong::replay {

namespace {

// Operations on such operands run no user code.
bool are_exact_numbers(PyObject* left, PyObject* right) {
  return cpython::is_exact_number(left) && (right == nullptr || cpython::is_exact_number(right));
}

StepResult store_truth(RunState& state, const Step& step, bool value) {
  return store(state, step, Py_NewRef(value ? Py_True : Py_False));
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

StepResult execute_number(RunState& state, const Step& step, PyObject* left, PyObject* right) {
  // Operations on exact numbers run no user code; when one raises, the original instruction raises again.
  const auto exact = [&](PyObject* result) {
    if (result == nullptr && !step.expects_raise) {
      PyErr_Clear();
      return StepResult::kReexecute;
    }
    return store(state, step, result);
  };
  switch (static_cast<NumberStep>(step.op)) {
    case NumberStep::bool_not:
      return store_truth(state, step, left != Py_True);
    case NumberStep::is_op:
      return store_truth(state, step, (left == right) != (step.immediate != 0));
    case NumberStep::int_binary:
      return may_take_long(step.immediate, left, right) ? long_binary(state, step, left, right)
                                                        : exact(quick_binary(step, left, right));
    case NumberStep::float_binary:
      return exact(float_binary(step.immediate, left, right));
    case NumberStep::int_compare:
      return exact(int_compare(step.immediate, left, right));
    case NumberStep::float_compare:
      return exact(float_compare(step.immediate, left, right));
    case NumberStep::number_truth:
      return store_truth(state, step, number_truth(left));
  }
  return StepResult::kReexecute;  // not reached
}

StepResult execute_operator(RunState& state, const Step& step, PyObject* left, PyObject* right) {
  if ((step.op == Op::to_bool || step.op == Op::unary_not) && (PyBool_Check(left) || left == Py_None)) {
    return store_truth(state, step, (left == Py_True) == (step.op == Op::to_bool));
  }
  const bool warns = version::kInvertingBoolWarns && step.op == Op::unary_op && PyBool_Check(left);
  if ((!are_exact_numbers(left, right) || warns) && !operator_runs_no_user_code(state, step, left, right) &&
      !sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  switch (static_cast<OperatorStep>(step.op)) {
    case OperatorStep::binary_op:
      return store(state, step, binary_operation(step.immediate, left, right));
    case OperatorStep::compare_op:
      return store(state, step, compare(step.immediate, left, right));
    case OperatorStep::compare_truth: {
      const Ref result = Ref::steal(compare(step.immediate, left, right));
      const int value = result ? PyObject_IsTrue(result.get()) : -1;
      return value < 0 ? StepResult::kRaised : store_truth(state, step, value != 0);
    }
    case OperatorStep::unary_op:
      return store(state, step, unary_operation(static_cast<UnaryOperator>(step.immediate), left));
    case OperatorStep::contains_op: {
      const int found = PySequence_Contains(right, left);
      return found < 0 ? StepResult::kRaised : store_truth(state, step, (found != 0) != (step.immediate != 0));
    }
    case OperatorStep::to_bool:
    case OperatorStep::unary_not: {
      const int value = PyObject_IsTrue(left);
      return value < 0 ? StepResult::kRaised : store_truth(state, step, (value != 0) == (step.op == Op::to_bool));
    }
  }
  return StepResult::kReexecute;  // not reached
}

StepResult execute_scalars(RunState& state, const Step& step, PyObject* left, PyObject* right) {
  PyObject* result = step.op == Op::float64_binary ? float64_binary(step.immediate, left, right)
                     : step.op == Op::int64_binary ? int64_binary(step.immediate, left, right)
                                                   : scalar_compare(step.immediate, left, right);
  return result == nullptr && PyErr_Occurred() == nullptr ? StepResult::kReexecute : store(state, step, result);
}

}  // namespace tagalong::replay
