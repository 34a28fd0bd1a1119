// Array operations one at a time: by the kernels where they fit, otherwise as eager execution does them.
#include <array>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/fusion_runs.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/operations.h"

namespace tagalong::replay {

namespace {

array::Outcome call_ufunc(RunState& state, const Step& step, const std::int32_t* operands, Ref* result,
                          const array::BeforeReport& before_report) {
  constexpr std::uint16_t kCallableSlots = 2;  // null and the ufunc
  constexpr std::uint16_t kMostInputs = 4;
  const int inputs = step.operand_count - kCallableSlots;
  PyObject* callable = state.registers[operands[1]];
  if (state.registers[operands[0]] != nullptr || inputs < 1 || inputs > kMostInputs) {
    return array::Outcome::kFallback;
  }
  std::array<PyObject*, kMostInputs> arguments{};
  for (int index = 0; index < inputs; ++index) {
    arguments.at(static_cast<std::size_t>(index)) = state.registers[operands[index + kCallableSlots]];
  }
  return step.site->call(callable, arguments.data(), static_cast<unsigned>(inputs), step.temporaries, result,
                         &before_report);
}

StepResult execute_array_eagerly(RunState& state, const Step& step, const std::int32_t* operands) {
  if (step.op == Op::array_call) {
    return execute_call(state, step, operands);
  }
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  switch (step.op) {
    case Op::array_unary:
    case Op::unary_op:
      return store(state, step,
                   unary_operation(static_cast<UnaryOperator>(step.immediate), state.registers[operands[0]]));
    case Op::array_binary:
    case Op::binary_op:
      return store(state, step,
                   binary_operation(step.immediate, state.registers[operands[0]], state.registers[operands[1]]));
    default:
      return store(state, step, compare(step.immediate, state.registers[operands[0]], state.registers[operands[1]]));
  }
}

}  // namespace

StepResult execute_array(RunState& state, const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  if (try_fusion_group(state, step)) {
    return StepResult::kFused;
  }
  show_location(state, step.snapshot);
  if (!step.site) {
    step.site = std::make_unique<array::UfuncSite>();
  }
  struct Place {
    RunState* state;
    const Step* step;
  } place{&state, &step};
  const array::BeforeReport before_report{.show =
                                              [](void* context) {
                                                const auto& at = *static_cast<Place*>(context);
                                                return sync_frames(*at.state, *at.step);
                                              },
                                          .context = &place};
  Ref result;
  array::Outcome outcome = array::Outcome::kFallback;
  switch (step.op) {
    case Op::array_unary:
    case Op::unary_op:
      outcome = step.site->unary(static_cast<UnaryOperator>(step.immediate), operand(0), step.temporaries, &result,
                                 &before_report);
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
      outcome = call_ufunc(state, step, operands, &result, before_report);
      break;
  }
  if (outcome == array::Outcome::kDone) {
    state.registers[step.result] = result.release();
    return StepResult::kNext;
  }
  // An operation with casts may be a fusion group of its own.
  if (outcome == array::Outcome::kFallback && has(step.op, trait::kArrays) && !step.begins_group &&
      fuses_groups(state) && run_fusion_group(state, step)) {
    return StepResult::kFused;
  }
  return outcome == array::Outcome::kError ? StepResult::kRaised : execute_array_eagerly(state, step, operands);
}

}  // namespace tagalong::replay
