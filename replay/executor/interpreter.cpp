#include "replay/executor/interpreter.h"

#include <opcode.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "replay/executor/emergency.h"
#include "replay/executor/trace_linking.h"
#include "replay/objects/binding.h"
#include "replay/objects/eliding_calls.h"
#include "replay/objects/guards.h"
#include "replay/objects/operations.h"
#include "replay/steps/looked_up.h"
#include "rewriter/cpython/dicts.h"
#include "rewriter/cpython/exact_numbers.h"
#include "rewriter/cpython/exceptions.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/instances.h"
#include "rewriter/cpython/iterators.h"

namespace tagalong::replay {
namespace {

// Operands whose operations run no code of anybody's, so that nobody looks at the frame meanwhile.
bool are_quiet_numbers(PyObject* left, PyObject* right) {
  return cpython::is_exact_number(left) && (right == nullptr || cpython::is_exact_number(right));
}

bool is_array(PyObject* operand) {
  const array::Numpy* np = array::met_numpy();
  return np != nullptr && operand != nullptr && Py_TYPE(operand) == np->array_type;
}

// Those that were recorded with other operands than arrays.
bool is_general_operator(Op op) { return op == Op::binary_op || op == Op::unary_op || op == Op::compare_op; }

}  // namespace

Outcome Executor::run(Run& run) const {
  const Executor::Hold hold(*this);
  if (!hold.is_complete()) [[unlikely]] {
    run.failed = dead_step_ != nullptr ? dead_step_ : steps_.data();
    return run.root == nullptr ? Outcome::kGuard : Outcome::kMiss;
  }
  if (is_reserve_used()) [[unlikely]] {
    keep_for_emergencies();
  }
  constexpr std::int32_t kOnStack = 256;
  std::array<PyObject*, kOnStack>
      small;  // NOLINT(cppcoreguidelines-pro-type-member-init): only the used part is filled
  std::vector<PyObject*> large;
  PyObject** registers = small.data();
  if (register_count_ > kOnStack) {
    large.resize(static_cast<std::size_t>(register_count_));
    registers = large.data();
  }
  std::int32_t place = 0;
  for (; place < constant_count_; ++place) {
    registers[place] = constants_[static_cast<std::size_t>(place)];
  }
  registers[1] = run.function;
  for (; place < register_count_; ++place) {
    registers[place] = nullptr;
  }
  if (run.root != nullptr) {
    run.frames[0] = run.root;
    run.frame_numbers[0] = 0;
    run.synced_keys[0] = -1;
    run.depth = 1;
  }
  run.last = this;
  Interpreter interpreter(*this, run, registers);
  if (straight_ != nullptr && run.root != nullptr && interpreter.run_straight()) {
    return Outcome::kReturned;
  }
  Outcome outcome = interpreter.execute();
  while (outcome == Outcome::kTraceLinked) {
    run.last = run.visit->executor;
    outcome = Interpreter(*run.last, run, run.visit->registers.data()).resume(run.visit->unboxed.data());
  }
  return outcome;
}

bool Interpreter::goes_on(const Step& step) {
  try {
    give_up_rest(step);
    return link_trace(step);
  } catch (const std::bad_alloc&) {
    return false;  // nothing has been moved
  }
}

// A step that has no state to raise in has failed for want of memory: the next one that has some raises instead. What
// comes between is not done.
const Step& Interpreter::with_state(const Step& step) const {
  const Step* const end = executor_.steps_.data() + executor_.steps_.size();
  const Step* found = std::find_if(&step, end, [](const Step& each) { return each.snapshot != kNoSnapshot; });
  TAGALONG_CHECK(found != end, "no state behind step {} of {}", &step - executor_.steps_.data(), executor_.graph_.name);
  return *found;
}

Outcome Interpreter::finish(const Step& step, StepResult answer) {
  if (answer == StepResult::kRaised && step.snapshot == kNoSnapshot) [[unlikely]] {
    return finish(with_state(step), answer);
  }
  const int own_frames = run_.root != nullptr ? 1 : 0;
  switch (answer) {
    case StepResult::kReturned: {
      return_locals(step);
      if (lacks_numbers_) [[unlikely]] {
        PyErr_NoMemory();
        return finish(step, StepResult::kRaised);
      }
      run_.returned = &step;
      const std::int32_t place = executor_.registers_used_[step.operands];
      PyObject* result = registers_[place];
      if (place < executor_.constant_count_) {
        Py_INCREF(result);
      } else {
        registers_[place] = nullptr;
      }
      run_.result = Ref::steal(result);
      clear_returned(step);
      pop_frames(own_frames);
      ++executor_.hits;
      return Outcome::kReturned;
    }
    case StepResult::kGuardFailed:
      if (step.in_entry_check || (run_.root == nullptr && !step.in_loop)) {
        ++step.failures;
        run_.failed = &step;
        if (step.operand_count != 0) {
          run_.failed_value = Ref::create(registers_[executor_.registers_used_[step.operands]]);
        }
        if (run_.handles) {
          cpython::set_handled(run_.thread, std::move(run_.handled_at_entry));
        }
        pop_frames(own_frames);  // first: the registers keep the generators whose frames are among them
        clear_registers();
        return run_.root == nullptr ? Outcome::kGuard : Outcome::kMiss;
      }
      if (const Step* relocation = relocation_of(step)) {
        return finish(*relocation, answer);
      }
      run_.failed = &step;
      break;
    default:
      break;
  }
  run_.gain -= step.forgone;
  if (answer != StepResult::kRaised && step.snapshot != kNoSnapshot && goes_on(step)) {
    return Outcome::kTraceLinked;
  }
  if (const Attached* place = executor_.place_of(step)) {
    run_.place = place;
  }
  run_.is_complete = run_.is_stopped || step.op == Op::raise_out || step.op == Op::reraise_out ||
                     step.op == Op::yield_value || step.op == Op::link;
  if (!run_.is_stopped) {
    ++(run_.is_complete ? executor_.hits : executor_.exits);
  }
  const bool is_idle = answer != StepResult::kRaised && step.snapshot != kNoSnapshot &&
                       executor_.snapshots_[static_cast<std::size_t>(step.snapshot)].is_idle;
  run_.idle = is_idle ? executor_.trace(step) : 0;
  return leave(step, answer == StepResult::kRaised);
}

inline Interpreter::StepResult Interpreter::execute_guard(const Step& step, PyObject* value) {
  const auto answer = [](bool holds) { return holds ? StepResult::kNext : StepResult::kGuardFailed; };
  switch (step.op) {
    case Op::guard_member: {
      // Members of C types: reading them runs nobody's code.
      const Ref member = Ref::steal(PyObject_GetAttr(value, step.name.get()));
      if (!member) {
        PyErr_Clear();
      }
      return answer(member.get() == step.object);
    }
    case Op::guard_accessor:
      return answer(accessor_is(value, step.name.get(), step.immediate, step.object));
    case Op::guard_no_attribute:
      return answer(value != nullptr && !cpython::may_have_own(value, step.object));
    case Op::guard_keywords:
      return answer(has_keywords(value, step.object));
    case Op::guard_generator:
      return answer(generator_matches(value, step));
    case Op::guard_names:
      return answer(has_plain_names(value));
    default:
      return answer(guard_holds(step.op, value, step.object, step.immediate));
  }
}

inline Interpreter::StepResult Interpreter::execute_step(const Step& step) {
  const std::int32_t* operands = executor_.registers_used_.data() + step.operands;
  const auto operand = [&](int index) { return registers_[operands[index]]; };
  switch (step.op) {
    case Op::param:
      registers_[step.result] = Py_XNewRef(run_.slots[step.immediate]);
      return StepResult::kNext;
    case Op::names:
      registers_[step.result] = Py_NewRef(run_.names);
      return StepResult::kNext;
    case Op::return_value:
      return StepResult::kReturned;
    case Op::leave:
    case Op::link:
    case Op::reraise_out:
      return StepResult::kLeave;
    case Op::raise_out:
      return StepResult::kRaised;
    case Op::yield_value:
      return StepResult::kLeave;
    case Op::take_stack:
      take_stack(step.immediate);
      return StepResult::kNext;
    case Op::enter_generator:
    case Op::leave_generator:
    case Op::finish_generator:
    case Op::fail_generator:
    case Op::raise_stop_iteration:
      return execute_inlined_generator(step, operands);
    case Op::begin_extend:
    case Op::end_extend:
    case Op::better:
    case Op::better_by_key:
      return execute_consumer(step, operands);
    case Op::send:
    case Op::get_yield_from_iter:
    case Op::get_awaitable:
      return execute_generator(step, operands);
    case Op::drop:
      return StepResult::kNext;
    case Op::sync_local:
      sync_local(step);
      return StepResult::kNext;
    case Op::leave_frame:
      leave_frame(step);
      return StepResult::kNext;
    case Op::array_binary:
    case Op::array_unary:
    case Op::array_compare:
    case Op::array_call:
      return execute_array(step, operands);
    case Op::guard_true:
      return operand(0) == Py_True ? StepResult::kNext : StepResult::kGuardFailed;
    case Op::guard_false:
      return operand(0) == Py_False ? StepResult::kNext : StepResult::kGuardFailed;
    case Op::guard_type:
      return reinterpret_cast<PyObject*>(Py_TYPE(operand(0))) == step.object ? StepResult::kNext
                                                                             : StepResult::kGuardFailed;
    case Op::guard_not_null:
      return operand(0) != nullptr ? StepResult::kNext : StepResult::kGuardFailed;
    case Op::guard_unwatched:
      return cpython::is_left_to_others(run_.thread) ? StepResult::kLeave : StepResult::kNext;
    case Op::guard_raised:
      return PyErr_Occurred() != nullptr ? StepResult::kNext : StepResult::kGuardFailed;
    case Op::guard_no_stop_iteration:
      if (PyErr_ExceptionMatches(PyExc_StopIteration) == 0) {
        return StepResult::kNext;
      }
      PyErr_Clear();
      return StepResult::kGuardFailed;
    case Op::guard_null:
      return operand(0) == nullptr ? StepResult::kNext : StepResult::kGuardFailed;
    case Op::guard_is:
    case Op::guard_is_not:
    case Op::guard_function:
    case Op::guard_bound_function:
    case Op::guard_type_version:
    case Op::guard_class:
    case Op::guard_member:
    case Op::guard_accessor:
    case Op::guard_no_attribute:
    case Op::guard_keywords:
    case Op::guard_tuple:
    case Op::guard_empty:
    case Op::guard_names:
    case Op::guard_generator:
      return execute_guard(step, operand(0));
    case Op::call:
      if (step.begins_group && runs_groups() && run_group(step)) {
        return StepResult::kFusionGroup;
      }
      return call_step(step, operands);
    case Op::known_call:
      return call_known(step, operands);
    case Op::load_name:
    case Op::store_name:
    case Op::delete_name:
    case Op::import_star:
    case Op::print_expr:
    case Op::setup_annotations:
      return execute_names(step, operands);
    case Op::load_classderef:
      return load_classderef(step, operands);
    case Op::for_iter: {
      // Eager execution would have looked at the jump back.
      if (requested_ && !poll(step)) [[unlikely]] {
        return StepResult::kRaised;
      }
      const bool is_quiet = is_quiet_iterator(operand(0));
      if (!is_quiet && !sync(step)) {
        return StepResult::kRaised;
      }
      PyObject* item = !is_quiet && may_elide_next(operand(0)) ? next_eliding(operand(0)) : next_item(operand(0));
      if (item == nullptr && PyErr_Occurred() != nullptr) {
        return StepResult::kRaised;
      }
      registers_[step.result] = item;
      return StepResult::kNext;
    }
    case Op::loop:
      return go_round(step, operands);
    case Op::range_next: {
      std::int64_t item = 0;
      if (cpython::next_of_range(operand(0), &item)) {
        return store_int(step, item);
      }
      registers_[step.result] = nullptr;
      return StepResult::kNext;
    }
    case Op::sequence_item:
      return execute_item(step, operand(0), operand(1), nullptr);
    case Op::list_store:
    case Op::list_renew:
      return execute_item(step, operand(0), operand(1), operand(2));
    case Op::array_item:
      return execute_array_item(step, operand(0), operand(1), nullptr);
    case Op::array_next:
      return execute_array_next(step, operand(0));
    case Op::array_store:
      return execute_array_item(step, operand(0), operand(1), operand(2));
    case Op::float64_binary:
    case Op::int64_binary:
    case Op::scalar_compare:
      return execute_scalars(step, operand(0), operand(1));
    case Op::rebind_global:
      return rebind_global(step, operand(0), operand(1)) ? StepResult::kNext : StepResult::kAgain;
    case Op::load_global:
    case Op::store_global:
    case Op::load_attr:
    case Op::member:
    case Op::load_module_attr:
    case Op::store_attr:
    case Op::delete_attr:
    case Op::load_method:
    case Op::load_module_method:
      return execute_name(step, operands);
    case Op::make_cell:
    case Op::cell_get:
    case Op::cell_set:
    case Op::cell_delete:
    case Op::closure_cell:
    case Op::make_function:
    case Op::function_default:
    case Op::function_kwdefault:
    case Op::method_function:
    case Op::method_self:
    case Op::bind_method:
    case Op::new_instance:
    case Op::tuple_item:
    case Op::dict_item:
    case Op::class_attribute:
    case Op::call_ex:
      return execute_cell_or_function(step, operands);
    case Op::unary_op:
    case Op::unary_not:
    case Op::to_bool:
    case Op::bool_not:
    case Op::binary_op:
    case Op::compare_op:
    case Op::is_op:
    case Op::contains_op:
    case Op::int_binary:
    case Op::int_compare:
    case Op::float_binary:
    case Op::float_compare:
    case Op::number_truth: {
      const std::array<PyObject*, 2> values = {operand(0), step.operand_count > 1 ? operand(1) : nullptr};
      return is_general_operator(step.op) && (is_array(values[0]) || is_array(values[1]))
                 ? execute_array(step, operands)
                 : execute_number(step, values.data());
    }
    case Op::unbound_local:
    case Op::raise:
    case Op::reraise:
    case Op::raise_init_result:
    case Op::handled_exception:
    case Op::traceback_entry:
    case Op::complete_attribute_error:
    case Op::end_iteration:
    case Op::lasti:
    case Op::catch_exception:
    case Op::push_exc_info:
    case Op::pop_except:
    case Op::check_exc_match:
    case Op::check_eg_match:
    case Op::prep_reraise_star:
    case Op::class_of:
    case Op::exception_traceback:
    case Op::with_except_start:
    case Op::finish_operator:
    case Op::finish_slot:
      return execute_exception(step, operands);
    default:
      return execute_container(step, operands);
  }
}

inline Interpreter::StepResult Interpreter::perform(const Step& step) {
  // A trace or profile function that was installed meanwhile wants to see the original instructions.
  const bool steps_aside = step.can_leave && cpython::is_left_to_others(run_.thread);
  const StepResult answer = steps_aside ? StepResult::kLeave : execute_step(step);
  if (answer != StepResult::kNext) [[unlikely]] {
    // A trace function that was installed meanwhile is told of the exception in each frame that it comes to.
    if (answer != StepResult::kRaised || !step.expects_raise || cpython::has_watcher(run_.thread)) {
      return answer;
    }
  }
  const std::int32_t* drops = executor_.registers_used_.data() + step.operands + step.operand_count + step.result_count;
  for (std::uint16_t index = 0; index < step.drop_count; ++index) {
    PyObject* dropped = registers_[drops[index]];
    if (step.shown != kNoSnapshot && dropped != nullptr && Py_REFCNT(dropped) == 1) [[unlikely]] {
      show(step.shown, dropped);
    }
    registers_[drops[index]] = nullptr;
    Py_XDECREF(dropped);
  }
  if (step.polls && answer == StepResult::kNext && requested_ && !poll(step)) [[unlikely]] {
    return StepResult::kRaised;
  }
  return StepResult::kNext;
}

Interpreter::StepResult Interpreter::perform_in_loop(const Step& step) {
  try {
    return perform(step);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return StepResult::kRaised;
  }
}

Outcome Interpreter::execute() {
  const Step* step = executor_.steps_.data();  // the last one terminates
  StepResult answer = StepResult::kNext;
  try {
    for (;; ++step) {
      answer = perform(*step);
      if (answer == StepResult::kFusionGroup) [[unlikely]] {
        step += fusion_steps_ - 1;
      } else if (answer != StepResult::kNext) [[unlikely]] {
        break;
      }
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    answer = StepResult::kRaised;
  }
  return answer == StepResult::kLoop ? run_loop(*step) : finish(*step, answer);
}

namespace {

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

}  // namespace

// It is interrupted by signals, whose handlers see the frames.
Interpreter::StepResult Interpreter::long_binary(const Step& step, PyObject* left, PyObject* right) {
  return sync(step) ? store(step, binary_operation(step.immediate, left, right)) : StepResult::kRaised;
}

Interpreter::StepResult Interpreter::execute_number(const Step& step, PyObject* const* operands) {
  PyObject* left = operands[0];
  PyObject* right = operands[1];
  const auto truth = [&](bool value) { return store(step, Py_NewRef(value ? Py_True : Py_False)); };
  // Exact numbers run no code of anybody's; when one raises, the original instruction raises again.
  const auto exact = [&](PyObject* result) {
    if (result == nullptr && !step.expects_raise) {
      PyErr_Clear();
      return StepResult::kAgain;
    }
    return store(step, result);
  };
  switch (step.op) {
    case Op::bool_not:
      return truth(left != Py_True);
    case Op::is_op:
      return truth((left == right) != (step.immediate != 0));
    case Op::int_binary:
      return may_take_long(step, left, right) ? long_binary(step, left, right) : exact(quick_binary(step, left, right));
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
  if (!are_quiet_numbers(left, right) && !is_quiet_operator(step, left, right) && !sync(step)) {
    return StepResult::kRaised;
  }
  switch (step.op) {
    case Op::binary_op:
      return store(step, binary_operation(step.immediate, left, right));
    case Op::compare_op:
      return store(step, compare(step.immediate, left, right));
    case Op::unary_op:
      return store(step, unary_operation(step.immediate, left));
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

Interpreter::StepResult Interpreter::execute_array(const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return registers_[operands[index]]; };
  if (step.begins_group && runs_groups() && run_group(step)) {
    return StepResult::kFusionGroup;
  }
  if (!locate(step)) {
    return StepResult::kRaised;
  }
  if (!step.site) {
    step.site = std::make_unique<array::UfuncSite>();
  }
  struct Place {
    Interpreter* interpreter;
    const Step* step;
  } place{this, &step};
  const array::BeforeReport before_report{.show =
                                              [](void* context) {
                                                const auto& at = *static_cast<Place*>(context);
                                                return at.interpreter->sync(*at.step);
                                              },
                                          .context = &place};
  Ref result;
  array::Outcome outcome = array::Outcome::kFallback;
  switch (step.op) {
    case Op::array_unary:
    case Op::unary_op:
      outcome = step.site->unary(unary_operator(step.immediate), operand(0), step.temporaries, &result, &before_report);
      break;
    case Op::array_binary:
    case Op::binary_op:
      outcome = step.site->binary(static_cast<array::BinaryOperator>(step.immediate), operand(0), operand(1),
                                  step.temporaries, &result, &before_report);
      break;
    case Op::array_compare:
    case Op::compare_op:
      outcome = step.site->compare(step.immediate, operand(0), operand(1), step.temporaries, &result, &before_report);
      break;
    default:
      outcome = call_ufunc(step, operands, &result, before_report);
      break;
  }
  if (outcome == array::Outcome::kDone) {
    registers_[step.result] = result.release();
    return StepResult::kNext;
  }
  // With casts it may be a fusion group even if it is alone.
  if (outcome == array::Outcome::kFallback && has(step.op, trait::kArrays) && !step.begins_group && runs_groups() &&
      run_group(step)) {
    return StepResult::kFusionGroup;
  }
  return outcome == array::Outcome::kError ? StepResult::kRaised : execute_array_eagerly(step, operands);
}

array::Outcome Interpreter::call_ufunc(const Step& step, const std::int32_t* operands, Ref* result,
                                       const array::BeforeReport& before_report) {
  constexpr std::uint16_t kCallableSlots = 2;  // null and the ufunc
  constexpr std::uint16_t kMostInputs = 4;
  const int inputs = step.operand_count - kCallableSlots;
  PyObject* callable = registers_[operands[1]];
  if (registers_[operands[0]] != nullptr || inputs < 1 || inputs > kMostInputs) {
    return array::Outcome::kFallback;
  }
  std::array<PyObject*, kMostInputs> arguments{};
  for (int index = 0; index < inputs; ++index) {
    arguments.at(static_cast<std::size_t>(index)) = registers_[operands[index + kCallableSlots]];
  }
  return step.site->call(callable, arguments.data(), static_cast<unsigned>(inputs), step.temporaries, result,
                         &before_report);
}

Interpreter::StepResult Interpreter::execute_array_eagerly(const Step& step, const std::int32_t* operands) {
  if (step.op == Op::array_call) {
    return call_step(step, operands);
  }
  if (!sync(step)) {
    return StepResult::kRaised;
  }
  switch (step.op) {
    case Op::array_unary:
    case Op::unary_op:
      return store(step, unary_operation(step.immediate, registers_[operands[0]]));
    case Op::array_binary:
    case Op::binary_op:
      return store(step, binary_operation(step.immediate, registers_[operands[0]], registers_[operands[1]]));
    default:
      return store(step, compare(step.immediate, registers_[operands[0]], registers_[operands[1]]));
  }
}

Interpreter::StepResult Interpreter::execute_name(const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return registers_[operands[index]]; };
  switch (step.op) {
    case Op::load_global: {
      if (PyObject* known = known_global(step, operand(0))) {
        registers_[step.result] = Py_NewRef(known);
        return StepResult::kNext;
      }
      if (PyObject* value = look_up_global(step, operand(0))) {
        registers_[step.result] = Py_NewRef(value);
        return StepResult::kNext;
      }
      return step.expects_raise && is_quiet_name(operand(0), step.object) ? thunk(step, operands) : StepResult::kAgain;
    }
    case Op::store_global:
      if (cpython::asks_keys(PyFunction_GET_GLOBALS(operand(0)), step.object)) {
        return StepResult::kAgain;
      }
      break;
    case Op::load_module_attr:
    case Op::load_module_method: {
      PyObject* value = look_up_in_module(step, operand(0));
      if (value == nullptr) {
        return StepResult::kAgain;
      }
      if (step.op == Op::load_module_attr) {
        registers_[step.result] = Py_NewRef(value);
      } else {
        registers_[operands[step.operand_count]] = nullptr;
        registers_[operands[step.operand_count + 1]] = Py_NewRef(value);
      }
      return StepResult::kNext;
    }
    case Op::load_attr:
    case Op::store_attr:
    case Op::load_method:
      if (!step.expects_raise && try_attribute(step, operands)) {
        return StepResult::kNext;
      }
      break;
    default:
      break;
  }
  user_code_step_ = static_cast<std::int32_t>(&step - executor_.steps_.data());
  if (!sync(step)) {
    return StepResult::kRaised;
  }
  switch (step.op) {
    case Op::store_global:
      return check(
          PyDict_SetItem(reinterpret_cast<PyFunctionObject*>(operand(0))->func_globals, step.object, operand(1)));
    case Op::member:
    case Op::load_attr:
      return store(step, PyObject_GetAttr(operand(0), step.object));
    case Op::store_attr:
      return check(PyObject_SetAttr(operand(0), step.object, operand(1)));
    case Op::delete_attr:
      return check(PyObject_SetAttr(operand(0), step.object, nullptr));
    default: {
      std::array<PyObject*, 2> results{};
      if (!replay::load_method(operand(0), step.object, results.data())) {
        return StepResult::kRaised;
      }
      registers_[operands[step.operand_count]] = results[0];
      registers_[operands[step.operand_count + 1]] = results[1];
      return StepResult::kNext;
    }
  }
}

Interpreter::StepResult Interpreter::execute_cell_or_function(const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return registers_[operands[index]]; };
  switch (step.op) {
    case Op::make_cell:
      return store_cell(step, operand(0));
    case Op::cell_get: {
      PyObject* content = PyCell_GET(operand(0));
      return content == nullptr ? empty_cell(step) : store(step, Py_NewRef(content));
    }
    case Op::cell_set: {
      PyObject* old = PyCell_GET(operand(0));
      if (old != nullptr && Py_REFCNT(old) == 1 && !sync(step)) {
        return StepResult::kRaised;
      }
      PyCell_SET(operand(0), Py_NewRef(operand(1)));
      Py_XDECREF(old);
      return StepResult::kNext;
    }
    case Op::cell_delete: {
      PyObject* old = PyCell_GET(operand(0));
      if (old == nullptr) {
        return empty_cell(step);
      }
      if (!sync(step)) {
        return StepResult::kRaised;
      }
      PyCell_SET(operand(0), nullptr);
      Py_DECREF(old);
      return StepResult::kNext;
    }
    case Op::closure_cell:
      return store(step, Py_NewRef(PyTuple_GET_ITEM(PyFunction_GET_CLOSURE(operand(0)), step.immediate)));
    case Op::make_function: {
      std::array<PyObject*, 6> values{};
      for (int index = 0; index < step.operand_count; ++index) {
        values.at(static_cast<std::size_t>(index)) = operand(index);
      }
      return store(step, replay::make_function(step.immediate, values.data()));
    }
    case Op::function_default: {
      PyObject* defaults = PyFunction_GET_DEFAULTS(operand(0));
      const auto size = static_cast<std::size_t>(defaults == nullptr ? 0 : PyTuple_GET_SIZE(defaults));
      // Counted from the end: default -1 belongs to the last positional parameter.
      const auto back = static_cast<std::size_t>(-step.immediate);
      return back > size ? StepResult::kAgain : store(step, Py_NewRef(PyTuple_GET_ITEM(defaults, size - back)));
    }
    case Op::function_kwdefault: {
      PyObject* defaults = PyFunction_GET_KW_DEFAULTS(operand(0));
      PyObject* value = defaults == nullptr ? nullptr : cpython::find_quietly(defaults, step.object);
      if (value == nullptr) {
        return StepResult::kAgain;
      }
      return store(step, Py_NewRef(value));
    }
    case Op::method_function:
      return store(step, Py_NewRef(PyMethod_GET_FUNCTION(operand(0))));
    case Op::method_self:
      return store(step, Py_NewRef(PyMethod_GET_SELF(operand(0))));
    case Op::bind_method:
      return store(step, PyMethod_New(operand(0), operand(1)));
    case Op::dict_item:
      return store(step, Py_XNewRef(PyDict_GetItemWithError(operand(0), step.object)));
    case Op::class_attribute:
      return store(step, Py_XNewRef(_PyType_Lookup(Py_TYPE(operand(0)), step.object)));
    case Op::tuple_item:
      return store(step, Py_NewRef(PyTuple_GET_ITEM(operand(0), step.immediate)));
    case Op::new_instance: {
      const Ref none = Ref::steal(PyTuple_New(0));
      return store(
          step,
          none ? PyBaseObject_Type.tp_new(reinterpret_cast<PyTypeObject*>(operand(0)), none.get(), nullptr) : nullptr);
    }
    default: {
      if (!sync(step)) {
        return StepResult::kRaised;
      }
      PyObject* keywords = step.operand_count > 2 ? operand(2) : nullptr;
      if (PyTuple_CheckExact(operand(1)) && (keywords == nullptr || PyDict_CheckExact(keywords)) &&
          !may_elide_unpacked(operand(0), operand(1))) {
        return store(step, PyObject_Call(operand(0), operand(1), keywords));
      }
      return thunk(step, operands);
    }
  }
}

}  // namespace tagalong::replay
