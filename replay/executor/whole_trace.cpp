// Whether a trace may be one fusion group from its first instruction to its return (Straight).
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "replay/executor/executor.h"

namespace tagalong::replay {

// Every step in front of its operations has to be a parameter or a guard on one.
void Executor::learn_straight() {
  constexpr int kSuspends = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  const auto is_operation = [this](const LoopOp& op) {
    return op.code == LoopCode::kStep && is_group_operation(program_.steps[op.step]);
  };
  const auto first = std::ranges::find_if(program_.loop.ops, is_operation);
  if (std::ranges::count_if(program_.loop.ops, is_operation) < 2 ||
      program_.register_count > Straight::kMostRegisters || program_.graph.frames.empty() ||
      (program_.shapes.front()->code->co_flags & kSuspends) != 0) {
    return;
  }
  std::map<std::int32_t, std::int32_t> slots;  // by register
  auto straight = std::make_unique<Straight>();
  straight->line = program_.steps[first->step].line;
  straight->first = program_.loop.ops.front().step;
  for (const Step& step : std::span(program_.steps).first(program_.direct.header)) {
    if (step.op == Op::param) {
      slots[step.result] = step.immediate;
    } else if (!has(step.op, trait::kOneOperand) || !slots.contains(program_.registers_used[step.operands])) {
      return;
    } else {
      straight->guards.push_back({slots[program_.registers_used[step.operands]], &step});
    }
    if (step.drop_count != 0) {
      return;
    }
  }
  for (const LoopProgram::Entry& entry : program_.loop.parameters) {
    if (!slots.contains(entry.from)) {
      return;
    }
    straight->parameters.push_back({slots[entry.from], entry.to, entry.unboxed});
  }
  straight_ = std::move(straight);
}

}  // namespace tagalong::replay
