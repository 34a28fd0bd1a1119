#include "replay/executor/executor.h"

#include <opcode.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "replay/executor/emergency.h"
#include "replay/steps/printer.h"

namespace tagalong::replay {

void Executor::provide_for_numbers() const {
  const auto numbers = std::ranges::count_if(program_.loop.kinds, [](Unboxed kind) { return kind != Unboxed::kNone; });
  keep_for_emergencies(static_cast<std::size_t>(numbers));
}

Executor::~Executor() {
  for (const Ref& watch : watches_) {
    cpython::unwatch(watch.get(), this);
  }
}

namespace {

// No value of the user's program is this object.
PyObject* nothing() {
  static PyObject* const object = _PyObject_New(&PyBaseObject_Type);
  return object;
}

}  // namespace

void Executor::set_gain(const Gain& gain, const std::vector<std::int32_t>& exit_losses) {
  gain_ = gain;
  for (std::size_t number = 0; number < program_.steps.size(); ++number) {
    program_.steps[number].exit_loss = exit_losses[number];
  }
  for (LoopOp& op : program_.loop.ops) {
    if (info(op.code).ends_round()) {
      op.result = gain.round;
    }
  }
}

void Executor::object_died(PyObject* object) {
  // A run that is under way comes to its guard and leaves: another object at the same address does not match.
  for (Step& step : program_.steps) {
    if (step.object == object) {
      step.object = nothing();
      dead_step_ = &step;
    }
  }
  std::ranges::replace(program_.loop.types, object, nothing());
  if (!std::exchange(is_dead_, true) && keeper != nullptr) {
    keeper->executor_died(*this);
  }
}

void Executor::make_faulty() {
  for (Step& step : program_.steps) {
    const bool is_binary = step.op == Op::binary_op || step.op == Op::int_binary || step.op == Op::float_binary;
    if (is_binary && (step.immediate == NB_ADD || step.immediate == NB_INPLACE_ADD)) {
      step.immediate += NB_SUBTRACT - NB_ADD;
    }
  }
  for (LoopOp& op : program_.loop.ops) {
    if (op.code == LoopCode::kAddInt || op.code == LoopCode::kAddFloat) {
      op.code = op.code == LoopCode::kAddInt ? LoopCode::kSubtractInt : LoopCode::kSubtractFloat;
    }
  }
}

bool Executor::fail_at(std::size_t number) {
  if (is_running() || program_.steps[number].guard >= 0) {
    return false;  // a run may be inside the native code; a relocated guard is no step of the trace
  }
  native_.code.reset();
  Step& step = program_.steps[number];
  if (step.op == Op::leave && step.can_leave) {
    return true;  // it leaves already
  }
  const auto belongs = [number](const LoopOp& op) {
    return op.step == number + (info(op.code).has(loop_trait::kWithGuard) ? 1 : 0);
  };
  // The operations for the drops of a loop node are behind it.
  const auto op = step.op == Op::loop ? program_.loop.ops.end() : std::ranges::find_if(program_.loop.ops, belongs);
  const bool is_before =
      step.op == Op::guard_type || (info(step.op).is_guard() && info(step.op).states_before_itself());
  if ((!is_before && !step.can_leave && step.op != Op::guard_unwatched) ||
      (step.in_loop && !step.is_header && op == program_.loop.ops.end())) {
    return false;
  }
  std::erase_if(slot_guards_, [number](const SlotGuard& guard) { return guard.step == number; });
  if (step.op == Op::guard_unwatched) {
    step.op = Op::leave;
    step.can_leave = true;
  } else if (is_before) {
    step.object = nothing();
  } else {
    step.op = Op::leave;
  }
  if (op != program_.loop.ops.end()) {
    op->code = LoopCode::kStep;
    op->step = static_cast<std::uint32_t>(number);
  }
  return true;
}

Lowered Executor::lowered() const {
  return {.graph = program_.graph,
          .steps = program_.steps,
          .used = program_.registers_used,
          .snapshots = program_.snapshots,
          .constants = program_.constants,
          .register_count = program_.register_count,
          .loop = program_.loop};
}

int Executor::return_instruction(const Step& step) const {
  return step.snapshot == kNoSnapshot ? -1 : program_.snapshot(step.snapshot).instruction;
}

const TraceOfTree* Executor::trace_with(const Step& step) const {
  const auto number = program_.index_of(step);
  const auto behind = std::ranges::upper_bound(traces_, number, {}, &TraceOfTree::first_step);
  return behind == traces_.begin() ? nullptr : &*std::prev(behind);
}

const Attached* Executor::place_of(const Step& step) const {
  const TraceOfTree* own = trace_with(step);
  return own == nullptr ? nullptr : own->place;
}

std::uint64_t Executor::trace(const Step& step) const {
  const TraceOfTree* own = trace_with(step);
  return own == nullptr ? serial : own->serial;
}

std::vector<std::size_t> Executor::entry_guards() const {
  std::vector<std::size_t> guards;
  for (std::size_t index = 0; index < program_.steps.size() && program_.steps[index].in_entry_check; ++index) {
    if (info(program_.steps[index].op).is_guard()) {
      guards.push_back(index);
    }
  }
  return guards;
}

}  // namespace tagalong::replay
