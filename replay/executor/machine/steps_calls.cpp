// Calls of Python functions in frames of their own, of C functions, and of known functions.
#include <algorithm>
#include <array>
#include <vector>

#include "replay/arrays/calls/numpy_calls.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/binding.h"
#include "replay/objects/calls_without_user_code.h"
#include "replay/objects/eliding_calls.h"
#include "replay/objects/known_functions.h"
#include "replay/objects/operations.h"
#include "rewriter/cpython/frames.h"
#include "version/calls.h"
#include "version/snippets.h"

namespace tagalong::replay {

namespace {

// The Python function that is called, if the interpreter would move the arguments straight into its frame.
PyFunctionObject* exact_callee(PyObject* const* slots, int count) {
  PyObject* callable = slots[0] != nullptr ? slots[0] : slots[1];
  const int arguments = count - (slots[0] != nullptr ? 1 : 2);
  if (!PyFunction_Check(callable)) {
    return nullptr;
  }
  auto* function = reinterpret_cast<PyFunctionObject*>(callable);
  const auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  constexpr int kOther = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  constexpr int kFunction = CO_OPTIMIZED | CO_NEWLOCALS;
  const bool is_exact = (code->co_flags & kOther) == 0 && (code->co_flags & kFunction) == kFunction &&
                        code->co_argcount == arguments && code->co_kwonlyargcount == 0 &&
                        function->vectorcall == version::function_vectorcall();
  return is_exact ? function : nullptr;
}

// Whether the step drops the operand in this register, and has it in no other operand.
bool is_last_use(const RunState& state, const Step& step, std::int32_t place) {
  const std::int32_t* operands = state.program.registers_used.data() + step.operands;
  const std::int32_t* drops = operands + step.operand_count + step.result_count;
  return std::find(drops, drops + step.drop_count, place) != drops + step.drop_count &&
         std::count(operands, operands + step.operand_count, place) == 1;
}

// A Python function has refused its arguments, so no frame of it has started: the refused ones are dropped before the
// others.
void drop_refused_arguments(RunState& state, const Step& step, const std::int32_t* operands, PyObject* keywords) {
  const bool is_pair = state.registers[operands[0]] != nullptr;
  PyObject* callable = state.registers[operands[is_pair ? 0 : 1]];
  const bool is_method = !is_pair && PyMethod_Check(callable);  // its self comes from there
  if (is_method) {
    callable = PyMethod_GET_FUNCTION(callable);
  }
  if (!PyFunction_Check(callable)) {
    return;
  }
  const int first = is_pair || is_method ? 1 : 2;
  const int named = keywords == nullptr ? 0 : static_cast<int>(PyTuple_GET_SIZE(keywords));
  const auto* function = reinterpret_cast<PyFunctionObject*>(callable);
  for (const int number : refused_arguments(function, step.operand_count - first - named, keywords)) {
    const std::int32_t place = operands[first + number];
    if (is_last_use(state, step, place)) {
      Py_CLEAR(state.registers[place]);
    }
  }
}

// Only the callee holds arguments that die with the call, as in eager execution: it may drop them while it runs.
PyObject* call_in_new_frame(RunState& state, const Step& step, const std::int32_t* operands,
                            PyFunctionObject* function) {
  auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  cpython::Frame* frame = cpython::push_frame(state.run.thread, function, code);
  if (frame == nullptr) {
    return nullptr;
  }
  const int first = state.registers[operands[0]] != nullptr ? 1 : 2;
  for (int index = first; index < step.operand_count; ++index) {
    const std::int32_t place = operands[index];
    PyObject* argument = state.registers[place];
    if (is_last_use(state, step, place)) {
      state.registers[place] = nullptr;
    } else {
      Py_INCREF(argument);
    }
    cpython::locals_of(frame)[index - first] = argument;
  }
  return cpython::start_frame(state.run.thread, frame);
}

// Only the call holds values that had no name in the program.
PyObject* call_eliding(RunState& state, const Step& step, const std::int32_t* operands, PyObject* keywords) {
  PyCodeObject* code = eliding_caller(step.operand_count, keywords);
  cpython::Frame* caller = cpython::current_frame(state.run.thread);
  cpython::Frame* frame =
      code == nullptr ? nullptr : cpython::push_frame(state.run.thread, cpython::function_of(caller), code);
  if (frame == nullptr) {
    return nullptr;
  }
  constexpr int kCallableSlots = 2;
  const bool is_swapped = !version::kNullBelowCallable && state.registers[operands[0]] == nullptr;
  for (int index = 0; index < step.operand_count; ++index) {
    const std::int32_t place = operands[index];
    PyObject*& slot = cpython::stack_base(frame)[index < kCallableSlots && is_swapped ? 1 - index : index];
    slot = Py_XNewRef(state.registers[place]);
    const bool is_anonymous = index >= kCallableSlots && (step.temporaries >> (index - kCallableSlots) & 1U) != 0;
    if (is_anonymous && is_last_use(state, step, place)) {
      Py_CLEAR(state.registers[place]);
    }
  }
  cpython::leave_recursion(state.run.thread);  // its frame is not counted: user code cannot see it
  PyObject* result = cpython::run_frame(state.run.thread, frame, 0, step.operand_count, false);
  cpython::enter_recursion(state.run.thread);
  return result;
}

}  // namespace

StepResult execute_call(RunState& state, const Step& step, const std::int32_t* operands) {
  constexpr std::uint16_t kOnStack = 16;
  std::array<PyObject*, kOnStack> small;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::vector<PyObject*> large;
  PyObject** arguments = small.data();
  if (step.operand_count > kOnStack) {
    large.resize(step.operand_count);
    arguments = large.data();
  }
  for (std::uint16_t index = 0; index < step.operand_count; ++index) {
    arguments[index] = state.registers[operands[index]];
  }
  PyObject* keywords = step.object == Py_None || step.op == Op::array_call ? nullptr : step.object;
  const bool is_plain = step.op == Op::call && !step.expects_raise;
  if (const array::NumpyCall* row = is_plain ? array::find_numpy_call(arguments) : nullptr) {
    show_location(state, step.snapshot);  // the call may release the GIL
    if (PyObject* result = array::call_directly(*row, arguments, step.operand_count, keywords)) {
      return store(state, step, result);
    }
  }
  const bool has_no_user_code = state.unboxed != nullptr && keywords == nullptr && is_plain &&
                                call_runs_no_user_code(arguments, step.operand_count, &step.called);
  if (has_no_user_code) {
    show_location(state, step.snapshot);
  } else if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  if (keywords == nullptr && step.drop_count != 0) {
    if (PyFunctionObject* function = exact_callee(arguments, step.operand_count)) {
      return store(state, step, call_in_new_frame(state, step, operands, function));
    }
  }
  if (is_plain && may_elide({arguments, step.operand_count}, keywords)) {
    return store(state, step, call_eliding(state, step, operands, keywords));
  }
  PyObject* result = replay::call(arguments, step.operand_count, keywords);
  if (result == nullptr && step.drop_count != 0 && !version::has_traceback(state.run.thread)) {
    drop_refused_arguments(state, step, operands, keywords);
  }
  return store(state, step, result);
}

StepResult call_known_function(RunState& state, const Step& step, const std::int32_t* operands) {
  std::array<PyObject*, 3> arguments{};
  for (std::uint16_t index = 0; index < step.operand_count; ++index) {
    arguments.at(index) = state.registers[operands[index]];
  }
  std::int64_t length = 0;
  if (known_function(step.object) == Known::kLength && !length_of(arguments[0], &length)) {
    return StepResult::kReexecute;
  }
  PyObject* result = PyObject_Vectorcall(step.object, arguments.data(), step.operand_count, nullptr);
  if (result == nullptr) {
    PyErr_Clear();
    return StepResult::kReexecute;
  }
  return store(state, step, result);
}

PyObject* next_with_elision(const RunState& state, PyObject* iterator) {
  cpython::leave_recursion(state.run.thread);
  PyObject* item = replay::next_with_elision(cpython::function_of(cpython::current_frame(state.run.thread)), iterator);
  cpython::enter_recursion(state.run.thread);
  return item;
}

}  // namespace tagalong::replay
