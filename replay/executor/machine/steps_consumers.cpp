// Steps of consumers (consumers.h) for which there is no instruction.
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"

namespace tagalong::replay {

StepResult execute_consumer(RunState& state, const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  if (step.op == Op::begin_extend || step.op == Op::end_extend) {
    const bool is_done = step.op == Op::begin_extend ? begin_extend(operand(0)) : end_extend(operand(0));
    return is_done ? StepResult::kNext : StepResult::kRaised;
  }
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  const bool has_keys = step.op == Op::better_by_key;
  const int better =
      has_keys ? is_better(step.immediate, operand(3), operand(1)) : is_better(step.immediate, operand(1), operand(0));
  if (better < 0) {
    return StepResult::kRaised;
  }
  const std::int32_t* results = operands + step.operand_count;
  const int first = better > 0 ? step.result_count : 0;
  for (int index = 0; index < step.result_count; ++index) {
    state.registers[results[index]] = Py_NewRef(operand(first + index));
  }
  return StepResult::kNext;
}

}  // namespace tagalong::replay
