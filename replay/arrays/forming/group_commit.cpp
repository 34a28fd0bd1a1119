#include "replay/arrays/forming/group_commit.h"

#include <algorithm>
#include <ranges>

#include "replay/arrays/forming/group_stores.h"

namespace tagalong::replay {

bool have_same_target(const Step& one, const Step& other) {
  return one.immediate == other.immediate && PyObject_RichCompareBool(one.object, other.object, Py_EQ) == 1;
}

bool have_same_target(const StoredObject& one, const StoredObject& other) {
  const StoreKind kind = kind_of(*one.step);
  return kind != StoreKind::kAppend && kind == kind_of(*other.step) && one.object == other.object &&
         one.key == other.key &&
         (kind == StoreKind::kItem || PyUnicode_Compare(one.step->object, other.step->object) == 0);
}

bool GroupCommit::complete(std::span<const StoredLocal> locals, std::span<const StoredObject> stores) {
  cut_off();
  if (!name_objects()) {
    return false;
  }
  leave_registers();
  leave_locals(locals.first(accepted_.locals));
  leave_stores(stores.first(accepted_.stores));
  group_.plan = contents_.builder().finish(outputs_);
  return group_.plan != nullptr;
}

void GroupCommit::cut_off() {
  group_.loads.resize(accepted_.loads);
  group_.guards.resize(accepted_.guards);
  group_.same.resize(accepted_.same);
  group_.returned_frames.resize(accepted_.returned_frames);
  group_.numeric_slots.resize(accepted_.numeric_slots);
  group_.computed.resize(accepted_.computed);
  group_.replaced.resize(accepted_.replaced);
  group_.lasting.resize(accepted_.lasting);
  for (const auto& [place, unboxed] : accepted_.contents.unboxed) {
    if (unboxed.is_changed || unboxed.clears || unboxed.boxes) {
      group_.unboxed.push_back(unboxed);
    }
  }
  drop_registers();
}

// A register may get its own object back, by a tuple that the group takes apart.
void GroupCommit::drop_registers() {
  for (const std::int32_t place : accepted_.contents.dropped) {
    const auto known = accepted_.contents.registers.find(place);
    const bool is_back =
        known != accepted_.contents.registers.end() && known->second >= 0 && contents_.origin(known->second) == place;
    if (!is_back && std::ranges::find(group_.dropped, place) == group_.dropped.end()) {
      group_.dropped.push_back(place);
    }
  }
}

// False: the group loads too many names.
bool GroupCommit::name_objects() {
  for (const PlannedGroup::Load& load : group_.loads) {
    if (std::ranges::find(group_.named, load.value) == group_.named.end()) {
      group_.named.push_back(load.value);
    }
  }
  return group_.named.size() <= kMostNamed;
}

void GroupCommit::leave_registers() {
  for (const auto& [place, index] : accepted_.contents.registers) {
    if (index < 0 || contents_.origin(index) == place) {
      continue;
    }
    const Content& content = contents_.at(index);
    if (group_.returns && ((content.kind == Kind::kResult && !is_returned(index)) || content.kind == Kind::kView ||
                           (content.kind == Kind::kTuple && place != returned_))) {
      continue;
    }
    if (content.kind == Kind::kTuple) {
      group_.tuple = place;
      make_items(index);
      continue;
    }
    if (content.kind == Kind::kComputed) {
      group_.numeric.emplace_back(place, content.computed);
      continue;
    }
    if (contents_.origin(index) >= 0) {
      group_.copied.emplace_back(place, contents_.origin(index));
      continue;
    }
    if (content.kind != Kind::kResult) {
      group_.loaded.emplace_back(place, content.object);
      continue;
    }
    group_.results.emplace_back(place, output_of(index));
  }
}

void GroupCommit::leave_locals(std::span<const StoredLocal> locals) {
  for (auto local = locals.begin(); local != locals.end(); ++local) {
    const auto is_same = [&](const StoredLocal& later) { return have_same_target(*later.step, *local->step); };
    if (std::none_of(local + 1, locals.end(), is_same)) {
      group_.locals.push_back({.frame = static_cast<std::int32_t>(PyLong_AsLong(local->step->object)),
                               .slot = local->step->immediate,
                               .source = register_with(local->content)});
    }
  }
}

unsigned GroupCommit::output_of(int content) {
  const int number = contents_.at(content).number;
  auto output = std::ranges::find(outputs_, number);
  if (output == outputs_.end()) {
    output = outputs_.insert(outputs_.end(), number);
  }
  return static_cast<unsigned>(output - outputs_.begin());
}

PlannedGroup::Item GroupCommit::item_of(int content) {
  using From = PlannedGroup::Item::From;
  const Content& known = contents_.at(content);
  switch (known.kind) {
    case Kind::kResult:
      return {.from = From::kResult, .index = static_cast<int>(output_of(content))};
    case Kind::kComputed:
      return {.from = From::kNumber, .index = known.computed};
    case Kind::kLoaded:
      return {.from = From::kObject, .object = known.object};
    default:
      return {.from = From::kRegister, .index = contents_.origin(content)};
  }
}

void GroupCommit::make_items(int tuple) {
  for (const int part : contents_.at(tuple).parts) {
    group_.items.push_back(item_of(part));
  }
}

// Marks the computed value of a content, and those from which it has been made, which it may hold.
void GroupCommit::hold(int content, std::vector<bool>* held) const {
  if (content < 0) {
    return;
  }
  std::ranges::for_each(contents_.at(content).parts, [&](int part) { hold(part, held); });
  boost::container::small_vector<int, 3> values = {contents_.at(content).computed};
  while (!values.empty()) {
    const int value = values.back();
    values.pop_back();
    if (value >= 0 && static_cast<std::size_t>(value) < held->size() && !(*held)[static_cast<std::size_t>(value)]) {
      (*held)[static_cast<std::size_t>(value)] = true;
      const auto& operands = group_.computed[static_cast<std::size_t>(value)].operands;
      values.insert(values.end(), operands.begin(), operands.end());
    }
  }
}

// The computed values that registers and stored attributes hold behind the group.
std::vector<bool> GroupCommit::held_values(std::span<const StoredObject> stores) const {
  std::vector<bool> held(group_.computed.size());
  for (const auto& [place, index] : accepted_.contents.registers) {
    hold(index, &held);
  }
  for (std::size_t round = 0; round < stores.size(); ++round) {
    const std::vector<bool> before = held;
    for (const StoredObject& store : stores) {
      if (!is_new_object(group_, store.object) || held[static_cast<std::size_t>(store.object)]) {
        hold(store.content, &held);
      }
    }
    if (held == before) {
      break;
    }
  }
  return held;
}

// Of several values of one attribute or item, the program sees the last one. It sees no object that the group has made
// and that nothing holds any more.
void GroupCommit::leave_stores(std::span<const StoredObject> stores) {
  const std::vector<bool> held = held_values(stores);
  for (auto store = stores.begin(); store != stores.end(); ++store) {
    const bool is_new = is_new_object(group_, store->object);
    if (is_new && !held[static_cast<std::size_t>(store->object)]) {
      continue;
    }
    const auto is_same = [&](const StoredObject& other) { return have_same_target(other, *store); };
    if (is_new ? std::any_of(stores.begin(), store, is_same) : std::any_of(store + 1, stores.end(), is_same)) {
      continue;
    }
    // The attributes of an instance are in the order of their first values.
    const auto backwards = std::views::reverse(stores);
    const auto last = std::ranges::find_if(backwards, is_same);
    const int content = is_new && last != backwards.end() ? last->content : store->content;
    group_.stores.push_back({store->step, store->object, item_of(content), store->key});
  }
}

// Whether the frame returns this content. Other objects in the returning frame's variables die unseen.
bool GroupCommit::is_returned(int content) const {
  const auto returned = accepted_.contents.registers.find(returned_);
  return returned != accepted_.contents.registers.end() && returned->second == content;
}

std::int32_t GroupCommit::register_with(int content) const {
  for (const auto& [place, index] : accepted_.contents.registers) {
    if (index == content) {
      return place;
    }
  }
  return -1;
}

}  // namespace tagalong::replay
