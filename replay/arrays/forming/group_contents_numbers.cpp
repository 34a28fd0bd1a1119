// Numbers that a fusion group computes beside its arrays.
#include "replay/arrays/forming/group_contents.h"

namespace tagalong::replay {

int GroupContents::compute(const FusionNumber& number) {
  Ref object = group_.computed.size() == kMostNumbers ? Ref() : evaluate(number, source_.registers, numbers_.data());
  if (!object) {
    return -1;
  }
  numbers_.push_back(std::move(object));
  group_.computed.push_back(number);
  return static_cast<int>(group_.computed.size()) - 1;
}

int GroupContents::of_number(int number) {
  const auto [known, is_new] = number_contents_.emplace(number, static_cast<int>(contents_.size()));
  if (is_new) {
    add({.kind = Kind::kNumber, .object = numbers_[static_cast<std::size_t>(number)].get(), .computed = number}, -1);
  }
  return known->second;
}

int GroupContents::computed_of(std::int32_t place) {
  const int index = of(place);
  if (index < 0) {
    return -1;
  }
  Content& content = at(index);
  if (content.object == nullptr || content.kind >= Kind::kResult) {
    return -1;
  }
  if (content.computed < 0 && content.kind == Kind::kExternal) {
    content.computed = compute({.kind = FusionNumber::Kind::kRegister, .place = place});
  } else if (content.computed < 0) {
    group_.numbers.push_back(Ref::create(content.object));
    const int computed = compute({.kind = FusionNumber::Kind::kObject, .object = content.object});
    at(index).computed = computed;
    return computed;
  }
  return content.computed;
}

int GroupContents::unboxed_number(std::int32_t place) {
  const auto known = state_.unboxed.find(place);
  if (known != state_.unboxed.end() && known->second.number >= 0) {
    return known->second.number;
  }
  const int number = source_.registers.objects[place] != nullptr || may_be_unboxed(place)
                         ? compute({.kind = FusionNumber::Kind::kRegister, .place = place})
                         : -1;
  UnboxedRegister& unboxed = state_.unboxed[place];
  unboxed.place = place;
  unboxed.number = number;
  return number;
}

}  // namespace tagalong::replay
