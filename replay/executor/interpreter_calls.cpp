// Calls: of Python functions in frames of their own, of C functions, and of those that are known.
#include <algorithm>
#include <array>
#include <vector>

#include "replay/arrays/kernels/histogram.h"
#include "replay/executor/interpreter.h"
#include "replay/objects/binding.h"
#include "replay/objects/eliding_calls.h"
#include "replay/objects/known_functions.h"
#include "replay/objects/operations.h"
#include "replay/objects/quiet_calls.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::replay {

namespace {

// A Python function that the interpreter would call by moving the arguments straight into its frame.
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
                        function->vectorcall == _PyFunction_Vectorcall;
  return is_exact ? function : nullptr;
}

}  // namespace

Interpreter::StepResult Interpreter::call_step(const Step& step, const std::int32_t* operands) {
  constexpr std::uint16_t kOnStack = 16;
  std::array<PyObject*, kOnStack> small;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::vector<PyObject*> large;
  PyObject** arguments = small.data();
  if (step.operand_count > kOnStack) {
    large.resize(step.operand_count);
    arguments = large.data();
  }
  for (std::uint16_t index = 0; index < step.operand_count; ++index) {
    arguments[index] = registers_[operands[index]];
  }
  PyObject* keywords = step.object == Py_None || step.op == Op::array_call ? nullptr : step.object;
  const bool is_plain = step.op == Op::call && !step.expects_raise;
  if (is_plain) {
    if (PyObject* bins = array::count_bins(arguments, step.operand_count, keywords)) {
      return store(step, bins);
    }
  }
  const bool is_quiet = unboxed_ != nullptr && keywords == nullptr && is_plain &&
                        is_quiet_call(arguments, step.operand_count, &step.called);
  if (!is_quiet && !sync(step)) {
    return StepResult::kRaised;
  }
  if (keywords == nullptr && step.drop_count != 0) {
    if (PyFunctionObject* function = exact_callee(arguments, step.operand_count)) {
      return store(step, call_exact(step, operands, function));
    }
  }
  if (is_plain && may_elide({arguments, step.operand_count}, keywords)) {
    return store(step, call_eliding(step, operands, keywords));
  }
  PyObject* result = replay::call(arguments, step.operand_count, keywords);
  if (result == nullptr && step.drop_count != 0 && run_.thread->curexc_traceback == nullptr) {
    give_up_refused(step, operands, keywords);
  }
  return store(step, result);
}

Interpreter::StepResult Interpreter::call_known(const Step& step, const std::int32_t* operands) {
  std::array<PyObject*, 3> arguments{};
  for (std::uint16_t index = 0; index < step.operand_count; ++index) {
    arguments.at(index) = registers_[operands[index]];
  }
  std::int64_t length = 0;
  if (known_function(step.object) == Known::kLength && !length_of(arguments[0], &length)) {
    return StepResult::kAgain;
  }
  PyObject* result = PyObject_Vectorcall(step.object, arguments.data(), step.operand_count, nullptr);
  if (result == nullptr) {
    PyErr_Clear();
    return StepResult::kAgain;
  }
  return store(step, result);
}

// Whether the step's operand in this register is given up by the step, and is in no other of its operands.
bool Interpreter::dies_here(const Step& step, std::int32_t place) const {
  const std::int32_t* operands = executor_.registers_used_.data() + step.operands;
  const std::int32_t* drops = operands + step.operand_count + step.result_count;
  return std::find(drops, drops + step.drop_count, place) != drops + step.drop_count &&
         std::count(operands, operands + step.operand_count, place) == 1;
}

// A Python function has not taken its arguments: no frame of it has started. The other drops follow in their order.
void Interpreter::give_up_refused(const Step& step, const std::int32_t* operands, PyObject* keywords) {
  const bool is_pair = registers_[operands[0]] != nullptr;
  PyObject* callable = registers_[operands[is_pair ? 0 : 1]];
  const bool is_method = !is_pair && PyMethod_Check(callable);  // which is where its self comes from
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
    if (dies_here(step, place)) {
      Py_CLEAR(registers_[place]);
    }
  }
}

// Arguments that die with the call are the callee's alone, as in eager execution: it may drop them while it runs.
PyObject* Interpreter::call_exact(const Step& step, const std::int32_t* operands, PyFunctionObject* function) {
  auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  cpython::Frame* frame = cpython::push_frame(run_.thread, function, code);
  if (frame == nullptr) {
    return nullptr;
  }
  const int first = registers_[operands[0]] != nullptr ? 1 : 2;
  for (int index = first; index < step.operand_count; ++index) {
    const std::int32_t place = operands[index];
    PyObject* argument = registers_[place];
    if (dies_here(step, place)) {
      registers_[place] = nullptr;
    } else {
      Py_INCREF(argument);
    }
    cpython::locals_of(frame)[index - first] = argument;
  }
  PyObject* result = cpython::start_frame(run_.thread, frame);
  cpython::pop_frame(run_.thread, frame);
  return result;
}

// What had no name in the program is the call's alone.
PyObject* Interpreter::call_eliding(const Step& step, const std::int32_t* operands, PyObject* keywords) {
  PyCodeObject* code = eliding_caller(step.operand_count, keywords);
  cpython::Frame* caller = cpython::current_frame(run_.thread);
  cpython::Frame* frame =
      code == nullptr ? nullptr : cpython::push_frame(run_.thread, cpython::function_of(caller), code);
  if (frame == nullptr) {
    return nullptr;
  }
  constexpr int kCallableSlots = 2;
  for (int index = 0; index < step.operand_count; ++index) {
    const std::int32_t place = operands[index];
    PyObject*& slot = cpython::stack_base(frame)[index];
    slot = Py_XNewRef(registers_[place]);
    const bool is_anonymous = index >= kCallableSlots && (step.temporaries >> (index - kCallableSlots) & 1U) != 0;
    if (is_anonymous && dies_here(step, place)) {
      Py_CLEAR(registers_[place]);
    }
  }
  cpython::leave_recursion(run_.thread);  // its frame is not counted: no program sees it
  PyObject* result = cpython::run_frame(run_.thread, frame, 0, step.operand_count, false);
  cpython::enter_recursion(run_.thread);
  cpython::pop_frame(run_.thread, frame);
  return result;
}

PyObject* Interpreter::next_eliding(PyObject* iterator) const {
  cpython::leave_recursion(run_.thread);
  PyObject* item = replay::next_eliding(cpython::function_of(cpython::current_frame(run_.thread)), iterator);
  cpython::enter_recursion(run_.thread);
  return item;
}

}  // namespace tagalong::replay
