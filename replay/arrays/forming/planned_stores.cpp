#include "replay/arrays/forming/planned_stores.h"

#include <algorithm>

#include "replay/arrays/forming/group_stores.h"

namespace tagalong::replay {

bool PlannedStores::add(const Step& step, const StoredObject& stored) {
  if (stored.object < 0 || stored.content < 0 || !contents_.is_presentable(stored.content) ||
      (contents_.at(stored.content).kind < GroupContents::Kind::kResult &&
       contents_.at(stored.content).object == nullptr)) {
    return false;
  }
  PyObject* key = stored.key < 0 ? nullptr : contents_.values()[stored.key].get();
  if (!replaced_by(step, contents_.values()[stored.object].get(), key)) {
    return false;
  }
  const StoreKind kind = kind_of(step);
  stores_.push_back(stored);
  stores_.back().step = &step;
  are_in_containers_ = are_in_containers_ || kind != StoreKind::kAttribute;
  if (kind != StoreKind::kAppend && !is_new_object(group_, stored.object)) {
    group_.replaced.push_back({.step = &step, .object = stored.object, .key = stored.key});
  }
  return true;
}

std::optional<int> PlannedStores::attribute(const Step& step, int object) const {
  std::optional<int> known;
  for (const StoredObject& store : stores_) {
    const bool is_same = store.object == object;
    // Two values may be one object in other runs, unless the group makes one of them.
    const bool may_be_same = is_same || (!is_new_object(group_, store.object) && !is_new_object(group_, object));
    if (may_be_same && kind_of(*store.step) == StoreKind::kAttribute &&
        PyUnicode_Compare(store.step->object, step.object) == 0) {
      known = is_same ? store.content : -1;
    }
  }
  return known;
}

std::optional<int> PlannedStores::item(int dict, int key) const {
  const auto constant = [this](int value) {
    const GroupValue& known = group_.computed[static_cast<std::size_t>(value)];
    return known.kind == GroupValue::Kind::kObject && PyUnicode_CheckExact(known.object) ? known.object : nullptr;
  };
  std::optional<int> known;
  for (const StoredObject& store : stores_) {
    if (kind_of(*store.step) != StoreKind::kItem) {
      continue;
    }
    const bool is_same = store.object == dict && store.key == key;
    PyObject* one = constant(store.key);
    PyObject* other = constant(key);
    const bool is_another = one != nullptr && other != nullptr && PyUnicode_Compare(one, other) != 0;
    if (!is_another) {
      known = is_same ? store.content : -1;
    }
  }
  return known;
}

bool PlannedStores::has_attribute(PyObject* name) const {
  return std::ranges::any_of(stores_, [&](const StoredObject& store) {
    return kind_of(*store.step) == StoreKind::kAttribute && PyUnicode_Compare(store.step->object, name) == 0;
  });
}

bool PlannedStores::hold(int content) const {
  constexpr int kMostObjects = 16;
  return hold(content, kMostObjects);
}

// An object that exists in front of the group is still there, and so is one to which a register leads, over so many
// objects. Objects that lead to each other stay until the collector runs.
bool PlannedStores::hold(int content, int most) const {
  const auto is_there = [&](int object) {
    const auto leads_to_it = [&](const StoredObject& store) {
      const GroupContents::Content& known = contents_.at(store.content);
      const bool is_object = known.kind == GroupContents::Kind::kComputed && known.computed == object;
      return is_object && hold(store.content, most - 1);
    };
    return !is_new_object(group_, object) || contents_.is_in_register(object) ||
           std::ranges::any_of(stores_, leads_to_it);
  };
  return std::ranges::any_of(stores_, [&](const StoredObject& store) {
    const auto replaces = [&](const StoredObject& later) { return &later > &store && have_same_target(later, store); };
    return store.content == content && std::ranges::none_of(stores_, replaces) && (most == 0 || is_there(store.object));
  });
}

}  // namespace tagalong::replay
