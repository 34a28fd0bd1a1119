// Arithmetic on numbers between the array operations of a fusion group.
#include <algorithm>

#include "replay/arrays/forming/group_planner.h"

namespace tagalong::replay {

bool FusionPlanner::calculate(const Step& step, const std::int32_t* operands) {
  FusionNumber number{.kind = FusionNumber::Kind::kStep, .step = &step};
  number.left = contents_.computed_of(operands[0]);
  number.right = contents_.computed_of(operands[1]);
  const int result = number.left < 0 || number.right < 0 ? -1 : contents_.compute(number);
  if (result < 0) {
    return refuse(Reason::kOther);
  }
  contents_.state().registers[step.result] = contents_.of_number(result);
  return true;
}

bool FusionPlanner::calculate(const LoopOp& op) {
  const Unboxed unboxed = result_of(op);
  const bool is_unboxing = op.code == LoopCode::kUnboxInt || op.code == LoopCode::kUnboxFloat;
  FusionNumber number{.kind = FusionNumber::Kind::kOperation, .code = op.code, .unboxed = unboxed};
  if (is_unboxing) {
    number.left = contents_.computed_of(op.left);
  } else {
    number.left = contents_.unboxed_number(op.left);
    number.right = op.right < 0 ? -1 : contents_.unboxed_number(op.right);
  }
  const int result = number.left < 0 || (op.right >= 0 && number.right < 0) ? -1 : contents_.compute(number);
  if (result < 0) {
    return refuse(Reason::kOther);
  }
  const std::int32_t place = is_unboxing ? op.left : op.result;
  UnboxedRegister& changed = contents_.state().unboxed[place];
  changed.place = place;
  changed.number = result;
  changed.unboxed = unboxed;
  changed.is_changed = true;
  return true;
}

bool FusionPlanner::box(std::int32_t place) {
  if (contents_.unboxed_number(place) < 0) {
    return refuse(Reason::kOther);
  }
  contents_.state().unboxed[place].boxes = true;
  return true;
}

void FusionPlanner::clear(std::int32_t place) {
  if (!contents_.may_be_unboxed(place)) {
    contents_.drop(place);
    return;
  }
  UnboxedRegister& unboxed = contents_.state().unboxed[place];
  unboxed.place = place;
  unboxed.clears = true;
  unboxed.boxes = false;
}

bool FusionPlanner::sync_unboxed(const Step& step) {
  const auto is_same = [&](const auto& local) {
    return local.first->immediate == step.immediate &&
           PyObject_RichCompareBool(local.first->object, step.object, Py_EQ) == 1;
  };
  if (std::ranges::any_of(locals_, is_same)) {
    return refuse(Reason::kOther);
  }
  group_->numeric_slots.emplace_back(static_cast<std::int32_t>(PyLong_AsLong(step.object)), step.immediate);
  return true;
}

}  // namespace tagalong::replay
