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
  if (!object || (value.kind == GroupValue::Kind::kStep && !may_be_early(object.get()))) {
    return -1;
  }
  values_.push_back(std::move(object));
  group_.computed.push_back(value);
  return static_cast<int>(group_.computed.size()) - 1;
}

// A large array that is made in front of the group needs its memory earlier than in eager execution. So all that eager
// execution has at that point must still be there: the arrays that were made before, and no operand is gone.
bool GroupContents::may_be_early(PyObject* object) {
  constexpr array::Extent kLargeBytes = 1 << 20;
  const auto is_large_array = [this](PyObject* each) {
    const array::OperandCode code = each == nullptr ? array::kForeign : array::classify(np_, each);
    return array::is_array(code) && Py_REFCNT(each) == 1 && (array::as_array(each)->flags & array::kOwnData) != 0 &&
           array::bytes_of(np_, each, code) >= kLargeBytes;
  };
  if (!is_large_array(object)) {
    return true;
  }
  const auto is_held = [this](int value) { return is_in_register(value); };
  const bool is_early = std::ranges::all_of(large_values_, is_held) &&
                        std::ranges::none_of(state_.dropped, is_large_array,
                                             [this](std::int32_t place) { return source_.registers.objects[place]; });
  if (is_early) {
    large_values_.push_back(static_cast<int>(values_.size()));
  }
  return is_early;
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

bool GroupContents::is_in_register(int value) const {
  const auto contains = [&](const auto& self, int container) -> bool {
    const GroupValue& made = group_.computed[static_cast<std::size_t>(container)];
    const bool is_container =
        made.kind == GroupValue::Kind::kStep && (made.step->op == Op::build_tuple || made.step->op == Op::build_list);
    return container == value || (is_container && std::ranges::any_of(made.operands, [&](int each) {
                                    return each >= 0 && self(self, each);
                                  }));
  };
  const auto holds = [&](const auto& self, int index) -> bool {
    return index >= 0 && ((at(index).kind == Kind::kComputed && contains(contains, at(index).computed)) ||
                          std::ranges::any_of(at(index).parts, [&](int part) { return self(self, part); }));
  };
  return std::ranges::any_of(state_.registers, [&](const auto& known) { return holds(holds, known.second); });
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
