// What registers hold while the planner goes through the steps of a fusion group: descriptions in place of objects.
// Objects that the plan knows become conditions of the group, which each run checks, or operands of its builder.
#pragma once

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "replay/arrays/forming/fusion_groups.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/arrays/planning/multi_pass_builder.h"
#include "replay/steps/step.h"

namespace tagalong::replay {

class GroupContents {
 public:
  // A view, slice, tuple or method made in a fusion group does not exist as an object, so none may be left when the
  // group ends.
  enum class Kind : std::uint8_t { kExternal, kConstant, kLoaded, kComputed, kResult, kView, kSlice, kTuple, kMethod };
  struct Content {
    Kind kind = Kind::kExternal;
    PyObject* object = nullptr;       // the object in this run; null: a result
    int number = -1;                  // number in the builder
    array::KnownFunction function{};  // for methods
    int external = -1;                // index in the group's externals
    std::vector<int> parts = {};      // for slices and tuples: indices of contents
    int computed = -1;                // index in the group's computed values
    const Step* maker = nullptr;      // for tuples: the step that makes the object, if one is needed
    bool is_used = false;             // for views: some operation takes it, and so finds out whether its indices exist
  };
  // What is known after some of the steps.
  struct State {
    boost::container::flat_map<std::int32_t, int> registers;  // index of the register's content; -1: empty
    std::vector<std::int32_t> dropped;  // registers whose content from before the fusion group was dropped
    boost::container::flat_map<std::int32_t, UnboxedRegister> unboxed;
  };

  GroupContents(const array::Numpy& np, const FusionSource& source, PlannedGroup* group)
      : np_(np), source_(source), group_(*group), builder_(np, &external_objects_, source.in_passes) {}

  [[nodiscard]] const array::Numpy& np() const { return np_; }
  [[nodiscard]] array::MultiPassBuilder& builder() { return builder_; }
  [[nodiscard]] const array::MultiPassBuilder& builder() const { return builder_; }
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] const State& state() const { return state_; }

  // Contents have indices. The index of what the register holds; negative: the register is empty.
  int of(std::int32_t place);
  // What the register holds; null: the register is empty.
  Content* find(std::int32_t place);
  [[nodiscard]] Content& at(int index) { return contents_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const Content& at(int index) const { return contents_[static_cast<std::size_t>(index)]; }
  // The register that has held the content since before the fusion group, or -1.
  [[nodiscard]] std::int32_t origin(int index) const { return origins_[static_cast<std::size_t>(index)]; }
  void define(std::int32_t place, const Content& content);
  // Whether another register holds the content of this one, or a tuple that contains it.
  [[nodiscard]] bool is_held_elsewhere(std::int32_t place) const;
  void drop(std::int32_t place);
  // Whether a register holds the computed value, or a tuple or list that contains it.
  [[nodiscard]] bool is_in_register(int value) const;

  // Whether the content exists as an object after the group, or could be made.
  [[nodiscard]] bool is_presentable(int index) const;
  // Whether a view has been dropped that no operation has taken.
  [[nodiscard]] bool has_lost_view() const { return has_lost_view_; }
  // Whether all contents do.
  [[nodiscard]] bool are_presentable() const;
  // How many registers hold results.
  [[nodiscard]] std::size_t result_count() const;
  // Whether all contents do if this register is returned: a tuple can be returned if each of its items is an object.
  [[nodiscard]] bool are_returnable(std::int32_t place) const;

  // The builder's number of an operand; negative: a fusion group cannot use the operand.
  int number_of(std::int32_t place);
  // The index among the externals of the group, which has room for one more.
  int external_of(int index);
  [[nodiscard]] bool is_existing_array(int index) const;

  // Objects that every run checks to be the same. A call of a plain function has null in the place of the method.
  bool is_null(std::int32_t place);
  PyObject* same_callable(std::int32_t place);
  // A value that is part of the plan, which keeps it alive; null: it may differ from run to run.
  PyObject* same_object(std::int32_t place);
  PyObject* same_content(int index);
  // Makes it a condition of the group that an external object is the same in every run.
  void require_same(int index);

  // group_contents_values.cpp
  // Adds a value that is computed in front of the array operations. Its index in the group's computed values; negative:
  // it cannot be computed there.
  int compute(const GroupValue& value);
  int of_value(int value);
  // The computed values of this run.
  [[nodiscard]] const Ref* values() const { return values_.data(); }
  // The index among the computed values of the object in a register; negative: the register holds no such object.
  int computed_of(std::int32_t place);
  // The same, or GroupValue::kNull where the register is known to hold null. `is_known`: whether there is an answer.
  int operand_of(std::int32_t place, bool* is_known);
  // The number that a register of a loop has beside its object.
  int unboxed_number(std::int32_t place);
  [[nodiscard]] bool may_be_unboxed(std::int32_t place) const { return source_.registers.may_be_unboxed(place); }

 private:
  static constexpr std::int32_t kFunctionRegister = 1;
  int add(const Content& content, std::int32_t origin);
  int computed_content(int index);
  int computed_tuple(int index);
  [[nodiscard]] bool has_unused_view(int index) const;
  [[nodiscard]] int computed_before(const GroupValue& value) const;
  [[nodiscard]] bool may_be_early(PyObject* object);

  const array::Numpy& np_;
  const FusionSource& source_;
  PlannedGroup& group_;
  std::vector<PyObject*> external_objects_;  // objects of the group's externals in this run
  array::MultiPassBuilder builder_;
  std::vector<Content> contents_;
  std::vector<std::int32_t> origins_;  // by content
  std::vector<Ref> values_;            // the computed values of this run
  std::vector<int> large_values_;      // those that are large new arrays
  bool has_lost_view_ = false;
  std::map<int, int> value_contents_;  // computed value to content
  State state_;
};

}  // namespace tagalong::replay
