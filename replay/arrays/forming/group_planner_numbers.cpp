// Numbers that a fusion group computes beside its arrays.
#include <algorithm>

#include "replay/arrays/forming/group_planner.h"

namespace tagalong::replay {

// Adds a number that is computed in front of the array operations. Its index in group_->computed; negative: it cannot
// be computed there.
int FusionPlanner::compute(const FusionNumber& number) {
  Ref object = group_->computed.size() == kMostNumbers ? Ref() : evaluate(number, source_.registers, numbers_.data());
  if (!object) {
    return -1;
  }
  numbers_.push_back(std::move(object));
  group_->computed.push_back(number);
  state_.computed = group_->computed.size();
  return static_cast<int>(group_->computed.size()) - 1;
}

int FusionPlanner::content_of_number(int number) {
  const auto [known, is_new] = number_contents_.emplace(number, static_cast<int>(contents_.size()));
  if (is_new) {
    contents_.push_back(
        {.kind = Kind::kNumber, .object = numbers_[static_cast<std::size_t>(number)].get(), .computed = number});
    origins_.push_back(-1);
  }
  return known->second;
}

// The index in group_->computed of the number in a register; negative: the register holds no such number.
int FusionPlanner::computed_of(std::int32_t place) {
  const int index = content_of(place);
  if (index < 0) {
    return -1;
  }
  Content& content = contents_[static_cast<std::size_t>(index)];
  if (content.object == nullptr || content.kind >= Kind::kResult) {
    return -1;
  }
  if (content.computed < 0 && content.kind == Kind::kExternal) {
    content.computed = compute({.kind = FusionNumber::Kind::kRegister, .place = place});
  } else if (content.computed < 0) {
    group_->numbers.push_back(Ref::create(content.object));
    const int computed = compute({.kind = FusionNumber::Kind::kObject, .object = content.object});
    contents_[static_cast<std::size_t>(index)].computed = computed;
    return computed;
  }
  return content.computed;
}

bool FusionPlanner::calculate(const Step& step, const std::int32_t* operands) {
  FusionNumber number{.kind = FusionNumber::Kind::kStep, .step = &step};
  number.left = computed_of(operands[0]);
  number.right = computed_of(operands[1]);
  const int result = number.left < 0 || number.right < 0 ? -1 : compute(number);
  if (result < 0) {
    return refuse(Reason::kOther);
  }
  state_.registers[step.result] = content_of_number(result);
  return true;
}

// The number that a register of a loop has beside its object.
int FusionPlanner::unboxed_number(std::int32_t place) {
  const auto known = state_.unboxed.find(place);
  if (known != state_.unboxed.end() && known->second.number >= 0) {
    return known->second.number;
  }
  const int number = source_.registers.objects[place] != nullptr || source_.registers.may_be_unboxed(place)
                         ? compute({.kind = FusionNumber::Kind::kRegister, .place = place})
                         : -1;
  UnboxedRegister& unboxed = state_.unboxed[place];
  unboxed.place = place;
  unboxed.number = number;
  return number;
}

bool FusionPlanner::calculate(const LoopOp& op) {
  const Unboxed unboxed = result_of(op);
  const bool is_unboxing = op.code == LoopCode::kUnboxInt || op.code == LoopCode::kUnboxFloat;
  FusionNumber number{.kind = FusionNumber::Kind::kOperation, .code = op.code, .unboxed = unboxed};
  if (is_unboxing) {
    number.left = computed_of(op.left);
  } else {
    number.left = unboxed_number(op.left);
    number.right = op.right < 0 ? -1 : unboxed_number(op.right);
  }
  const int result = number.left < 0 || (op.right >= 0 && number.right < 0) ? -1 : compute(number);
  if (result < 0) {
    return refuse(Reason::kOther);
  }
  const std::int32_t place = is_unboxing ? op.left : op.result;
  UnboxedRegister& changed = state_.unboxed[place];
  changed.place = place;
  changed.number = result;
  changed.unboxed = unboxed;
  changed.is_changed = true;
  return true;
}

bool FusionPlanner::box(std::int32_t place) {
  if (unboxed_number(place) < 0) {
    return refuse(Reason::kOther);
  }
  state_.unboxed[place].boxes = true;
  return true;
}

void FusionPlanner::clear(std::int32_t place) {
  if (!source_.registers.may_be_unboxed(place)) {
    drop(place);
    return;
  }
  UnboxedRegister& unboxed = state_.unboxed[place];
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
  state_.numeric_slots = group_->numeric_slots.size();
  return true;
}

// The builder's number of an operand; negative: a fusion group cannot use the operand.
int FusionPlanner::number_of(std::int32_t place) {
  const int index = content_of(place);
  if (index < 0) {
    return -1;
  }
  Content& content = contents_[static_cast<std::size_t>(index)];
  if (content.number < 0 && content.object != nullptr) {
    const bool may_change = content.kind == Kind::kExternal || content.kind == Kind::kNumber;
    content.number = may_change ? -1 : builder_.constant(content.object);
    if (content.number >= 0 && content.kind == Kind::kLoaded) {
      group_->numbers.push_back(Ref::create(content.object));
    }
    if (content.number < 0 && content.kind != Kind::kConstant) {
      if (group_->externals.size() == kMostExternals) {
        return -1;
      }
      content.number = builder_.external(content.object, static_cast<unsigned>(external_of(&content, place)));
    }
  }
  return content.number;
}

}  // namespace tagalong::replay
