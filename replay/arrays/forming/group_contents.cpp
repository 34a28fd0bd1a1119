#include "replay/arrays/forming/group_contents.h"

#include <algorithm>

namespace tagalong::replay {
namespace {

bool is_plain_value(PyObject* object) {
  if (!PyTuple_CheckExact(object)) {
    return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object);
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
    if (!PyLong_CheckExact(PyTuple_GET_ITEM(object, i))) {
      return false;
    }
  }
  return true;
}

}  // namespace

int GroupContents::add(const Content& content, std::int32_t origin) {
  contents_.push_back(content);
  origins_.push_back(origin);
  return static_cast<int>(contents_.size()) - 1;
}

int GroupContents::of(std::int32_t place) {
  if (may_be_unboxed(place)) {
    const int number = unboxed_number(place);
    return number < 0 ? -1 : of_value(number);
  }
  const auto [known, is_new] = state_.registers.emplace(place, static_cast<int>(contents_.size()));
  if (is_new) {
    const bool is_constant = place < source_.constants && place != kFunctionRegister;
    add({.kind = is_constant ? Kind::kConstant : Kind::kExternal, .object = source_.registers.objects[place]}, place);
  }
  return known->second;
}

GroupContents::Content* GroupContents::find(std::int32_t place) {
  const int index = of(place);
  return index < 0 ? nullptr : &at(index);
}

void GroupContents::define(std::int32_t place, const Content& content) { state_.registers[place] = add(content, -1); }

void GroupContents::drop(std::int32_t place) {
  const int index = of(place);
  if (index >= 0 && origin(index) == place) {
    state_.dropped.push_back(place);
  }
  has_lost_view_ = has_lost_view_ || has_unused_view(index);
  state_.registers[place] = -1;
}

bool GroupContents::has_unused_view(int index) const {
  return index >= 0 && ((at(index).kind == Kind::kView && !at(index).is_used) ||
                        (at(index).kind == Kind::kTuple &&
                         std::ranges::any_of(at(index).parts, [this](int part) { return has_unused_view(part); })));
}

bool GroupContents::is_presentable(int index) const {
  const Content& known = at(index);
  return known.kind < Kind::kView && !(known.kind == Kind::kResult && builder_.is_view(known.number));
}

bool GroupContents::are_presentable() const {
  return std::ranges::all_of(state_.registers,
                             [&](const auto& known) { return known.second < 0 || is_presentable(known.second); });
}

std::size_t GroupContents::result_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(state_.registers, [&](const auto& known) {
    return known.second >= 0 && at(known.second).kind == Kind::kResult;
  }));
}

bool GroupContents::are_returnable(std::int32_t place) const {
  const auto known = state_.registers.find(place);
  const int index = known == state_.registers.end() ? -1 : known->second;
  // What other variables hold ends unseen, so tuples and views need not exist.
  const auto are_others_presentable = [&] {
    return std::ranges::all_of(state_.registers, [&](const auto& other) {
      if (other.first == place || other.second < 0) {
        return true;
      }
      const Kind kind = at(other.second).kind;
      return kind == Kind::kTuple || kind == Kind::kView ? !has_unused_view(other.second)
                                                         : is_presentable(other.second);
    });
  };
  if (index < 0 || at(index).kind != Kind::kTuple) {
    return (index < 0 || is_presentable(index)) && are_others_presentable();
  }
  const std::vector<int>& parts = at(index).parts;
  const auto is_object = [&](int part) {
    return part >= 0 && is_presentable(part) && (at(part).kind >= Kind::kComputed || at(part).object != nullptr);
  };
  return !parts.empty() && std::ranges::all_of(parts, is_object) && are_others_presentable();
}

bool GroupContents::is_held_elsewhere(std::int32_t place) const {
  const auto found = state_.registers.find(place);
  const int index = found == state_.registers.end() ? -1 : found->second;
  const auto holds = [&](int other) {
    return other == index || std::ranges::find(at(other).parts, index) != at(other).parts.end();
  };
  return index >= 0 && std::ranges::any_of(state_.registers, [&](const auto& other) {
           return other.first != place && other.second >= 0 && holds(other.second);
         });
}

int GroupContents::number_of(std::int32_t place) {
  const int index = of(place);
  if (index < 0) {
    return -1;
  }
  Content& content = at(index);
  content.is_used = true;
  if (content.number < 0 && content.object != nullptr) {
    const bool may_change = content.kind == Kind::kExternal || content.kind == Kind::kComputed;
    content.number = may_change ? -1 : builder_.constant(content.object);
    if (content.number >= 0 && content.kind == Kind::kLoaded) {
      group_.numbers.push_back(Ref::create(content.object));
    }
    if (content.number < 0 && content.kind != Kind::kConstant) {
      if (group_.externals.size() == kMostExternals) {
        return -1;
      }
      content.number = builder_.external(content.object, static_cast<unsigned>(external_of(index)));
    }
  }
  return content.number;
}

int GroupContents::external_of(int index) {
  Content& content = at(index);
  if (content.external < 0) {
    content.external = static_cast<int>(group_.externals.size());
    group_.externals.push_back({.place = content.kind == Kind::kExternal ? origin(index) : -1,
                                .object = content.kind == Kind::kComputed ? nullptr : content.object,
                                .number = content.kind == Kind::kComputed ? content.computed : -1});
    external_objects_.push_back(content.object);
  }
  return content.external;
}

bool GroupContents::is_existing_array(int index) const {
  const Content& content = at(index);
  return (content.kind == Kind::kExternal || content.kind == Kind::kComputed) && content.object != nullptr &&
         Py_TYPE(content.object) == np_.array_type;
}

void GroupContents::require_same(int index) {
  if (at(index).kind == Kind::kExternal) {
    group_.same.emplace_back(origin(index), at(index).object);
  }
}

bool GroupContents::is_null(std::int32_t place) {
  const int index = of(place);
  if (index < 0) {
    return false;
  }
  const Content& content = at(index);
  if (content.object == nullptr) {
    require_same(index);
  }
  return content.kind < Kind::kResult && content.object == nullptr;
}

PyObject* GroupContents::same_callable(std::int32_t place) {
  const int index = of(place);
  if (index < 0) {
    return nullptr;
  }
  require_same(index);
  return at(index).object;
}

PyObject* GroupContents::same_object(std::int32_t place) {
  const int index = of(place);
  return index < 0 ? nullptr : same_content(index);
}

PyObject* GroupContents::same_content(int index) {
  const Content& content = at(index);
  if (content.object == nullptr || content.kind >= Kind::kComputed || !is_plain_value(content.object)) {
    return nullptr;
  }
  require_same(index);
  group_.numbers.push_back(Ref::create(content.object));
  return content.object;
}

}  // namespace tagalong::replay
