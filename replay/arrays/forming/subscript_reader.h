// Reads parts of arrays, axes and shifts from what registers hold while a fusion group is planned. Internal to
// group_planner.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/arrays/forming/group_contents.h"

namespace tagalong::replay {

class SubscriptReader {
 public:
  SubscriptReader(GroupContents* contents, PlannedGroup* group) : contents_(*contents), group_(*group) {}

  // The builder's number of a part of an array; negative: there is no such part, or it would be written and belongs to
  // an array that the fusion group has made.
  int part_of(std::int32_t container, std::int32_t key, bool is_written);
  // Whether it is an item of an existing array, or of another container, not a part of an array.
  [[nodiscard]] bool is_item(std::int32_t container, std::int32_t key);
  // An int, a tuple of ints, or None. False: it is something else, or may differ from run to run.
  bool read_axes(std::int32_t place, std::optional<std::vector<int>>* axes);
  // An int, or a tuple of ints, which may differ from run to run. False: the content is something else.
  bool read_shifts(int index, std::vector<array::ViewSpec::Number>* shifts);

 private:
  using Content = GroupContents::Content;
  using Kind = GroupContents::Kind;

  // An integer or None of an index; false: the object is neither.
  bool read_number(int index, array::ViewSpec::Number* number);
  bool read_axis(int index, array::ViewSpec::Axis* axis);
  bool read_subscript(int index, array::ViewSpec* spec);

  GroupContents& contents_;
  PlannedGroup& group_;
};

}  // namespace tagalong::replay
