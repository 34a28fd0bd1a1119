// What the steps of a fusion group store in objects, while the group is planned: the group reads values in front of its
// operations and stores objects behind them, so what is stored is known by its content.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/arrays/forming/group_commit.h"
#include "replay/arrays/forming/group_contents.h"

namespace tagalong::replay {

class PlannedStores {
 public:
  PlannedStores(GroupContents* contents, PlannedGroup* group) : contents_(*contents), group_(*group) {}

  // False: only the interpreter can store this.
  bool add(const Step& step, const StoredObject& stored);
  [[nodiscard]] std::span<const StoredObject> all() const { return stores_; }

  // The content that an earlier step of the group has stored in this attribute of the computed value, or in this item
  // of a dict. Empty: none has; negative: perhaps.
  [[nodiscard]] std::optional<int> attribute(const Step& step, int object) const;
  [[nodiscard]] std::optional<int> item(int dict, int key) const;
  // Whether some object gets an attribute of this name.
  [[nodiscard]] bool has_attribute(PyObject* name) const;
  // Whether a dict or a list gets an item, so that what is read from containers may change.
  [[nodiscard]] bool are_in_containers() const { return are_in_containers_; }
  // Whether an object that is still there holds the content.
  [[nodiscard]] bool hold(int content) const;

 private:
  [[nodiscard]] bool hold(int content, int most) const;

  GroupContents& contents_;
  PlannedGroup& group_;
  std::vector<StoredObject> stores_;
  bool are_in_containers_ = false;
};

}  // namespace tagalong::replay
