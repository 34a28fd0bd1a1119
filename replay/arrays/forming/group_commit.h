// The end of planning: what a fusion group leaves in registers, variables and attributes. Internal to group_planner.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/arrays/forming/group_contents.h"

namespace tagalong::replay {

// The steps that belong to the group: what is known after them, and what they have added to the group.
struct AcceptedSteps {
  GroupContents::State contents;
  std::size_t operations = 0;  // of the builder
  std::size_t loads = 0, guards = 0, same = 0, returned_frames = 0, locals = 0, numeric_slots = 0, computed = 0;
  std::size_t stores = 0, replaced = 0, lasting = 0;
};

// A step that stores a variable of a real frame.
struct StoredLocal {
  const Step* step;
  int content;
};

// Whether two steps store the same variable.
[[nodiscard]] bool have_same_target(const Step& one, const Step& other);

// A step that stores an attribute or an item of a dict, or appends to a list.
struct StoredObject {
  const Step* step;
  int object;    // the instance, dict or list: index among the computed values
  int content;   // of the attribute or item afterwards
  int key = -1;  // of a dict: index among the computed values
};

// Whether they store the same attribute or item.
[[nodiscard]] bool have_same_target(const StoredObject& one, const StoredObject& other);

class GroupCommit {
 public:
  // `returned`: the register that is returned, where the trace ends behind the group, or -1.
  GroupCommit(const AcceptedSteps& accepted, std::int32_t returned, GroupContents* contents, PlannedGroup* group)
      : accepted_(accepted), returned_(returned), contents_(*contents), group_(*group) {}

  // Cuts the group off behind the accepted steps and completes it. False: it cannot be run.
  bool complete(std::span<const StoredLocal> locals, std::span<const StoredObject> stores);

 private:
  using Content = GroupContents::Content;
  using Kind = GroupContents::Kind;

  void cut_off();
  void drop_registers();
  bool name_objects();
  void leave_registers();
  void leave_locals(std::span<const StoredLocal> locals);
  void leave_stores(std::span<const StoredObject> stores);
  [[nodiscard]] std::vector<bool> held_values(std::span<const StoredObject> stores) const;
  void hold(int content, std::vector<bool>* held) const;
  void make_items(int tuple);
  unsigned output_of(int content);
  PlannedGroup::Item item_of(int content);
  [[nodiscard]] bool is_returned(int content) const;
  [[nodiscard]] std::int32_t register_with(int content) const;

  const AcceptedSteps& accepted_;
  std::int32_t returned_;
  GroupContents& contents_;
  PlannedGroup& group_;
  std::vector<int> outputs_;  // numbers in the builder
};

}  // namespace tagalong::replay
