#include "replay/executor/machine/step_machine.h"

#include <array>
#include <new>
#include <string>

#include "replay/executor/machine/boxing.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/fusion_runs.h"
#include "replay/executor/machine/loop_interpreter.h"
#include "replay/executor/machine/run_end.h"
#include "replay/executor/machine/step_families.h"
#include "replay/executor/machine/steps_without_user_code.h"
#include "replay/objects/eliding_calls.h"
#include "replay/objects/guards.h"
#include "replay/objects/operations.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/objects/instances.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::replay {

namespace {

bool is_array(PyObject* operand) {
  const array::Numpy* np = array::met_numpy();
  return np != nullptr && operand != nullptr && Py_TYPE(operand) == np->array_type;
}

// Operators that were recorded with other operands than arrays.
bool has_array_loops(Op op) { return op == Op::binary_op || op == Op::unary_op || op == Op::compare_op; }

[[noreturn, gnu::cold, gnu::noinline]] void refuse(const Step& step) {
  fail_check(__FILE__, __LINE__, "the op has steps", std::string(info(step.op).name));
}

[[gnu::always_inline]] inline StepResult execute_guard(RunState& state, const Step& step, PyObject* value) {
  const auto pass_if = [](bool holds) { return holds ? StepResult::kNext : StepResult::kGuardFailed; };
  switch (step.op) {
    case Op::guard_member: {
      // Reading members of C types runs no user code.
      const Ref member = Ref::steal(PyObject_GetAttr(value, step.name.get()));
      if (!member) {
        PyErr_Clear();
      }
      return pass_if(member.get() == step.object);
    }
    case Op::guard_accessor:
      return pass_if(accessor_is(value, step.name.get(), step.immediate, step.object));
    case Op::guard_no_attribute:
      return pass_if(value != nullptr && !cpython::may_have_own(value, step.object));
    case Op::guard_keywords:
      return pass_if(has_keywords(value, step.object));
    case Op::guard_generator:
      return pass_if(generator_matches(value, step));
    case Op::guard_names:
      return pass_if(state.has_plain_names(value));
    default:
      return pass_if(guard_holds(step.op, value, step.object, step.immediate));
  }
}

[[gnu::always_inline]] inline StepResult execute_step(RunState& state, const Step& step) {
  const std::int32_t* operands = state.program.operands_of(step);
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  const auto right = [&] { return step.operand_count > 1 ? operand(1) : nullptr; };
  switch (step.op) {
    case Op::param:
      state.registers[step.result] = Py_XNewRef(state.run.slots[step.immediate]);
      return StepResult::kNext;
    case Op::names:
      state.registers[step.result] = Py_NewRef(state.run.names);
      return StepResult::kNext;
    case Op::return_value:
      return StepResult::kReturned;
    case Op::leave:
    case Op::link:
    case Op::reraise_out:
      return StepResult::kSideExit;
    case Op::raise_out:
      return StepResult::kRaised;
    case Op::yield_value:
      return StepResult::kSideExit;
    case Op::take_stack:
      clear_stack(state, step.immediate);
      return StepResult::kNext;
    case Op::enter_generator:
    case Op::leave_generator:
    case Op::finish_generator:
    case Op::fail_generator:
    case Op::raise_stop_iteration:
      return execute_inlined_generator(state, step, operands);
    case Op::begin_extend:
    case Op::end_extend:
    case Op::better:
    case Op::better_by_key:
      return execute_consumer(state, step, operands);
    case Op::send:
    case Op::get_yield_from_iter:
    case Op::get_awaitable:
      return execute_generator(state, step, operands);
    case Op::drop:
      return StepResult::kNext;
    case Op::sync_local:
      sync_local(state, step);
      return StepResult::kNext;
    case Op::leave_frame:
      leave_frame(state, step);
      return StepResult::kNext;
    case Op::array_binary:
    case Op::array_unary:
    case Op::array_compare:
    case Op::array_call:
      return execute_array(state, step, operands);
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
      return cpython::must_run_eagerly(state.run.thread) ? StepResult::kSideExit : StepResult::kNext;
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
      return execute_guard(state, step, operand(0));
    case Op::call:
      return try_fusion_group(state, step) ? StepResult::kFused : execute_call(state, step, operands);
    case Op::known_call:
      return call_known_function(state, step, operands);
#define TAGALONG_NAMESPACE_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_namespace_name(state, step, operands);
    case Op::load_classderef:
      return load_classderef(state, step, operands);
    case Op::for_iter: {
      // Eager execution polls at the jump back.
      if (state.requested && !poll_requests(state, step)) [[unlikely]] {
        return StepResult::kRaised;
      }
      const bool has_no_user_code = next_runs_no_user_code(state, operand(0));
      if (!has_no_user_code && !sync_frames(state, step)) {
        return StepResult::kRaised;
      }
      PyObject* item = !has_no_user_code && may_elide_next(operand(0)) ? next_with_elision(state, operand(0))
                                                                       : next_item(operand(0));
      if (item == nullptr && PyErr_Occurred() != nullptr) {
        return StepResult::kRaised;
      }
      state.registers[step.result] = item;
      return StepResult::kNext;
    }
    case Op::loop:
      return execute_loop_node(state, step, operands);
    case Op::range_next: {
      std::int64_t item = 0;
      if (cpython::next_of_range(operand(0), &item)) {
        return store_int(state, step, item);
      }
      state.registers[step.result] = nullptr;
      return StepResult::kNext;
    }
    case Op::sequence_item:
      return execute_item(state, step, operand(0), operand(1), nullptr);
    case Op::list_store:
    case Op::list_renew:
      return execute_item(state, step, operand(0), operand(1), operand(2));
    case Op::array_item:
      return execute_array_item(state, step, operand(0), operand(1), nullptr);
    case Op::array_next:
      return execute_array_next(state, step, operand(0));
    case Op::array_store:
      return execute_array_item(state, step, operand(0), operand(1), operand(2));
    case Op::float64_binary:
    case Op::int64_binary:
    case Op::scalar_compare:
      return execute_scalars(state, step, operand(0), operand(1));
    case Op::rebind_global:
      return rebind_global(step, operand(0), operand(1)) ? StepResult::kNext : StepResult::kReexecute;
#define TAGALONG_GLOBAL_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_global(state, step, operands);
#define TAGALONG_ATTRIBUTE_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_attribute(state, step, operands);
#define TAGALONG_CELL_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_cell_or_function(state, step, operands);
#define TAGALONG_CONTAINER_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_container(state, step, operands);
#define TAGALONG_EXCEPTION_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_exception(state, step, operands);
#define TAGALONG_THUNK_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_by_thunk(state, step, static_cast<ThunkStep>(step.op), operands);
#define TAGALONG_NUMBER_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return execute_number(state, step, operand(0), right());
#define TAGALONG_OPERATOR_STEP(name) case Op::name:
#include "replay/steps/step_families.def"
      return has_array_loops(step.op) && (is_array(operand(0)) || is_array(right()))
                 ? execute_array(state, step, operands)
                 : execute_operator(state, step, operand(0), right());
    case Op::constant:
    case Op::null:
    case Op::function:
    case Op::jump_back:
      break;  // lowering makes no steps of them
  }
  refuse(step);
}

// One step, the drops that belong to it, and the poll behind it.
[[gnu::always_inline]] inline StepResult perform(RunState& state, const Step& step) {
  // A trace or profile function that was installed meanwhile is shown the original instructions.
  const bool must_leave = step.can_leave && cpython::must_run_eagerly(state.run.thread);
  const StepResult result = must_leave ? StepResult::kSideExit : execute_step(state, step);
  if (result != StepResult::kNext) [[unlikely]] {
    // A trace function that was installed meanwhile is told of the exception in each frame.
    if (result != StepResult::kRaised || !step.expects_raise || cpython::has_watcher(state.run.thread)) {
      return result;
    }
  }
  for (const std::int32_t place : state.program.drops_of(step)) {
    PyObject* dropped = state.registers[place];
    if (step.shown != kNoSnapshot && dropped != nullptr && Py_REFCNT(dropped) == 1) [[unlikely]] {
      sync_for_finaliser(state, step.shown, dropped);
    }
    state.registers[place] = nullptr;
    Py_XDECREF(dropped);
  }
  if (step.polls && result == StepResult::kNext && state.requested && !poll_requests(state, step)) [[unlikely]] {
    return StepResult::kRaised;
  }
  return StepResult::kNext;
}

}  // namespace

StepResult perform_step(RunState& state, const Step& step) {
  try {
    return perform(state, step);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return StepResult::kRaised;
  }
}

Outcome run_steps(RunState& state) {
  const Step* step = state.program.steps.data();  // the last one terminates
  StepResult result = StepResult::kNext;
  try {
    for (;; ++step) {
      result = perform(state, *step);
      if (result == StepResult::kFused) [[unlikely]] {
        step += state.fused_steps - 1;
      } else if (result != StepResult::kNext) [[unlikely]] {
        break;
      }
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    result = StepResult::kRaised;
  }
  return result == StepResult::kEnterLoop ? LoopInterpreter::enter(state, *step) : end_run(state, *step, result);
}

}  // namespace tagalong::replay
