// Values that a fusion group computes in front of its array operations.
#include <algorithm>

#include "replay/arrays/forming/group_contents.h"

namespace tagalong::replay {

int GroupContents::compute(const GroupValue& value) {
  if (const int known = computed_before(value); known >= 0) {
    return known;
  }
  // The elements that an operation of the group writes are not in the array yet.
  const bool is_outdated = builder_.writes() && reads_elements(value, values_.data());
  Ref object =
      is_outdated || group_.computed.size() == kMostValues ? Ref() : evaluate(value, source_.registers, values_.data());
  if (!object) {
    return -1;
  }
  values_.push_back(std::move(object));
  group_.computed.push_back(value);
  return static_cast<int>(group_.computed.size()) - 1;
}

// An attribute that is read twice is one value, because nothing happens in between.
int GroupContents::computed_before(const GroupValue& value) const {
  const auto is_array = [this](int operand) {
    return operand != GroupValue::kNull && Py_TYPE(values_[static_cast<std::size_t>(operand)].get()) == np_.array_type;
  };
  if (value.kind != GroupValue::Kind::kStep || std::ranges::any_of(value.operands, is_array)) {
    return -1;  // an array makes new objects of its shape and its items
  }
  const auto known =
      std::ranges::find_if(group_.computed, [&](const GroupValue& other) { return computes_the_same(value, other); });
  return known == group_.computed.end() ? -1 : static_cast<int>(known - group_.computed.begin());
}

int GroupContents::of_value(int value) {
  const auto [known, is_new] = value_contents_.emplace(value, static_cast<int>(contents_.size()));
  if (is_new) {
    add({.kind = Kind::kComputed, .object = values_[static_cast<std::size_t>(value)].get(), .computed = value}, -1);
  }
  return known->second;
}

int GroupContents::operand_of(std::int32_t place, bool* is_known) {
  if (is_null(place)) {
    *is_known = true;
    return GroupValue::kNull;
  }
  const int computed = computed_of(place);
  *is_known = computed >= 0;
  return computed;
}

int GroupContents::computed_of(std::int32_t place) {
  const int index = of(place);
  return index < 0 ? -1 : computed_content(index);
}

// A tuple for which no object was needed so far.
int GroupContents::computed_tuple(int index) {
  GroupValue tuple{.kind = GroupValue::Kind::kStep, .step = at(index).maker};
  const std::vector<int> parts = at(index).parts;
  for (const int part : parts) {
    tuple.operands.push_back(part < 0 ? -1 : computed_content(part));
    if (tuple.operands.back() < 0) {
      return -1;
    }
  }
  return compute(tuple);
}

int GroupContents::computed_content(int index) {
  if (at(index).kind == Kind::kTuple) {
    return computed_tuple(index);
  }
  Content& content = at(index);
  if (content.object == nullptr || content.kind >= Kind::kResult) {
    return -1;
  }
  if (content.computed < 0 && content.kind == Kind::kExternal) {
    content.computed = compute({.kind = GroupValue::Kind::kRegister, .place = origin(index)});
  } else if (content.computed < 0) {
    group_.numbers.push_back(Ref::create(content.object));
    content.computed = compute({.kind = GroupValue::Kind::kObject, .object = content.object});
  }
  return content.computed;
}

int GroupContents::unboxed_number(std::int32_t place) {
  const auto known = state_.unboxed.find(place);
  if (known != state_.unboxed.end() && known->second.number >= 0) {
    return known->second.number;
  }
  const int number = source_.registers.objects[place] != nullptr || may_be_unboxed(place)
                         ? compute({.kind = GroupValue::Kind::kRegister, .place = place})
                         : -1;
  UnboxedRegister& unboxed = state_.unboxed[place];
  unboxed.place = place;
  unboxed.number = number;
  return number;
}

}  // namespace tagalong::replay
