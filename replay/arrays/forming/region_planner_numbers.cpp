// Numbers that a region computes beside its arrays.
#include <algorithm>

#include "replay/arrays/forming/region_planner.h"

namespace tagalong::replay {

// The place of a number among those that are computed in front; negative: there is none.
int RegionPlanner::compute(const RegionNumber& number) {
  Ref object = region_->computed.size() == kMostNumbers ? Ref() : evaluate(number, source_.registers, numbers_.data());
  if (!object) {
    return -1;
  }
  numbers_.push_back(std::move(object));
  region_->computed.push_back(number);
  state_.computed = region_->computed.size();
  return static_cast<int>(region_->computed.size()) - 1;
}

int RegionPlanner::content_of_number(int number) {
  const auto [known, is_new] = number_contents_.emplace(number, static_cast<int>(contents_.size()));
  if (is_new) {
    contents_.push_back(
        {.kind = Kind::kNumber, .object = numbers_[static_cast<std::size_t>(number)].get(), .computed = number});
    origins_.push_back(-1);
  }
  return known->second;
}

// What is computed with it.
int RegionPlanner::computed_of(std::int32_t place) {
  const int index = content_of(place);
  if (index < 0) {
    return -1;
  }
  Content& content = contents_[static_cast<std::size_t>(index)];
  if (content.object == nullptr || content.kind >= Kind::kResult) {
    return -1;
  }
  if (content.computed < 0 && content.kind == Kind::kExternal) {
    content.computed = compute({.kind = RegionNumber::Kind::kRegister, .place = place});
  } else if (content.computed < 0) {
    region_->numbers.push_back(Ref::create(content.object));
    const int computed = compute({.kind = RegionNumber::Kind::kObject, .object = content.object});
    contents_[static_cast<std::size_t>(index)].computed = computed;
    return computed;
  }
  return content.computed;
}

bool RegionPlanner::calculate(const Step& step, const std::int32_t* operands) {
  RegionNumber number{.kind = RegionNumber::Kind::kStep, .step = &step};
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
int RegionPlanner::raw_number(std::int32_t place) {
  const auto known = state_.raw.find(place);
  if (known != state_.raw.end() && known->second.number >= 0) {
    return known->second.number;
  }
  const int number = source_.registers.objects[place] != nullptr || source_.registers.may_be_raw(place)
                         ? compute({.kind = RegionNumber::Kind::kRegister, .place = place})
                         : -1;
  RawRegister& raw = state_.raw[place];
  raw.place = place;
  raw.number = number;
  return number;
}

bool RegionPlanner::calculate(const LoopOp& op) {
  const Raw raw = result_of(op);
  const bool is_unboxing = op.code == LoopCode::kUnboxInt || op.code == LoopCode::kUnboxFloat;
  RegionNumber number{.kind = RegionNumber::Kind::kOperation, .code = op.code, .raw = raw};
  if (is_unboxing) {
    number.left = computed_of(op.left);
  } else {
    number.left = raw_number(op.left);
    number.right = op.right < 0 ? -1 : raw_number(op.right);
  }
  const int result = number.left < 0 || (op.right >= 0 && number.right < 0) ? -1 : compute(number);
  if (result < 0) {
    return refuse(Reason::kOther);
  }
  const std::int32_t place = is_unboxing ? op.left : op.result;
  RawRegister& changed = state_.raw[place];
  changed.place = place;
  changed.number = result;
  changed.raw = raw;
  changed.is_changed = true;
  return true;
}

bool RegionPlanner::box(std::int32_t place) {
  if (raw_number(place) < 0) {
    return refuse(Reason::kOther);
  }
  state_.raw[place].boxes = true;
  return true;
}

void RegionPlanner::clear(std::int32_t place) {
  if (!source_.registers.may_be_raw(place)) {
    drop(place);
    return;
  }
  RawRegister& raw = state_.raw[place];
  raw.place = place;
  raw.clears = true;
  raw.boxes = false;
}

bool RegionPlanner::sync_raw(const Step& step) {
  const auto is_same = [&](const auto& local) {
    return local.first->immediate == step.immediate &&
           PyObject_RichCompareBool(local.first->object, step.object, Py_EQ) == 1;
  };
  if (std::ranges::any_of(locals_, is_same)) {
    return refuse(Reason::kOther);
  }
  region_->numeric_slots.emplace_back(static_cast<std::int32_t>(PyLong_AsLong(step.object)), step.immediate);
  state_.numeric_slots = region_->numeric_slots.size();
  return true;
}

// The builder's number of an operand; negative: it is nothing for a region.
int RegionPlanner::number_of(std::int32_t place) {
  const int index = content_of(place);
  if (index < 0) {
    return -1;
  }
  Content& content = contents_[static_cast<std::size_t>(index)];
  if (content.number < 0 && content.object != nullptr) {
    const bool may_change = content.kind == Kind::kExternal || content.kind == Kind::kNumber;
    content.number = may_change ? -1 : builder_.constant(content.object);
    if (content.number >= 0 && content.kind == Kind::kLoaded) {
      region_->numbers.push_back(Ref::create(content.object));
    }
    if (content.number < 0 && content.kind != Kind::kConstant) {
      if (region_->externals.size() == kMostExternals) {
        return -1;
      }
      content.number = builder_.external(content.object, static_cast<unsigned>(external_of(&content, place)));
    }
  }
  return content.number;
}

}  // namespace tagalong::replay
