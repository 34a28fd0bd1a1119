#include <algorithm>

#include "replay/arrays/forming/group_planner.h"

namespace tagalong::replay {

// Makes the plan's final actions from the state after the last operation.
bool FusionPlanner::commit() {
  group_->loads.resize(accepted_.loads);
  group_->guards.resize(accepted_.guards);
  group_->same.resize(accepted_.same);
  group_->returned_frames.resize(accepted_.returned_frames);
  locals_.resize(accepted_.locals);
  group_->numeric_slots.resize(accepted_.numeric_slots);
  group_->computed.resize(accepted_.computed);
  stores_.resize(accepted_.stores);
  for (const auto& [place, unboxed] : accepted_.contents.unboxed) {
    if (unboxed.is_changed || unboxed.clears || unboxed.boxes) {
      group_->unboxed.push_back(unboxed);
    }
  }
  group_->dropped = accepted_.contents.dropped;
  for (const PlannedGroup::Load& load : group_->loads) {
    if (std::ranges::find(group_->named, load.value) == group_->named.end()) {
      group_->named.push_back(load.value);
    }
  }
  if (group_->named.size() > kMostNamed) {
    return false;
  }
  commit_registers();
  commit_locals();
  commit_stores();
  group_->plan = builder().finish(outputs_);
  return group_->plan != nullptr;
}

void FusionPlanner::commit_registers() {
  for (const auto& [place, index] : accepted_.contents.registers) {
    if (index < 0 || contents_.origin(index) == place) {
      continue;
    }
    const Content& content = contents_.at(index);
    if (content.kind == Kind::kTuple) {
      group_->tuple = place;
      make_items(index);
      continue;
    }
    if (group_->returns && content.kind == Kind::kResult && !is_returned(index)) {
      continue;
    }
    if (content.kind == Kind::kComputed) {
      group_->numeric.emplace_back(place, content.computed);
      continue;
    }
    if (contents_.origin(index) >= 0) {
      group_->copied.emplace_back(place, contents_.origin(index));
      continue;
    }
    if (content.kind != Kind::kResult) {
      group_->loaded.emplace_back(place, content.object);
      continue;
    }
    group_->results.emplace_back(place, output_of(index));
  }
}

void FusionPlanner::commit_locals() {
  for (auto local = locals_.begin(); local != locals_.end(); ++local) {
    const auto is_same = [&](const auto& later) {
      return later.first->immediate == local->first->immediate &&
             PyObject_RichCompareBool(later.first->object, local->first->object, Py_EQ) == 1;
    };
    if (std::none_of(local + 1, locals_.end(), is_same)) {
      group_->locals.push_back({.frame = static_cast<std::int32_t>(PyLong_AsLong(local->first->object)),
                                .slot = local->first->immediate,
                                .source = register_with(local->second)});
    }
  }
}

unsigned FusionPlanner::output_of(int content) {
  const int number = contents_.at(content).number;
  auto output = std::ranges::find(outputs_, number);
  if (output == outputs_.end()) {
    output = outputs_.insert(outputs_.end(), number);
  }
  return static_cast<unsigned>(output - outputs_.begin());
}

PlannedGroup::Item FusionPlanner::item_of(int content) {
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

void FusionPlanner::make_items(int tuple) {
  for (const int part : contents_.at(tuple).parts) {
    group_->items.push_back(item_of(part));
  }
}

// Of several values of one attribute, the program sees the last one.
void FusionPlanner::commit_stores() {
  for (auto store = stores_.begin(); store != stores_.end(); ++store) {
    const auto is_same = [&](const Store& later) {
      return later.object == store->object && PyUnicode_Compare(later.step->object, store->step->object) == 0;
    };
    if (std::none_of(store + 1, stores_.end(), is_same)) {
      group_->stores.push_back({store->step, store->object, item_of(store->content)});
    }
  }
}

// Whether the frame returns this content. Other objects in the returning frame's variables die unseen.
bool FusionPlanner::is_returned(int content) const {
  const auto returned = accepted_.contents.registers.find(returned_);
  return returned != accepted_.contents.registers.end() && returned->second == content;
}

std::int32_t FusionPlanner::register_with(int content) const {
  for (const auto& [place, index] : accepted_.contents.registers) {
    if (index == content) {
      return place;
    }
  }
  return -1;
}

}  // namespace tagalong::replay
