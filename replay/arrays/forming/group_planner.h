// Goes through steps as the interpreter would, with descriptions in place of objects, and plans the longest fusion
// group that they allow. Internal to fusion_groups.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/forming/group_commit.h"
#include "replay/arrays/forming/group_contents.h"
#include "replay/arrays/forming/group_functions.h"
#include "replay/arrays/forming/planned_stores.h"
#include "replay/arrays/forming/subscript_reader.h"

namespace tagalong::replay {

// Whether a fusion group may contain the step.
bool may_be_inside(const Step& step);
bool may_be_inside(const LoopOp& op, const Step& step);
// Whether the name is still bound to the object that the plan has found.
bool load_holds(const PlannedGroup::Load& load, PyObject* const* registers, const Ref* values);

inline constexpr int kCallableSlots = 2;  // of a call: null and the callable

class FusionPlanner {
  using Reason = array::FusionReason;

 public:
  FusionPlanner(const array::Numpy& np, const FusionSource& source)
      : source_(source),
        group_(std::make_unique<PlannedGroup>()),
        contents_(np, source, group_.get()),
        subscripts_(&contents_, group_.get()),
        functions_(&contents_, &subscripts_),
        stores_(&contents_, group_.get()) {}

  // Null: there is nothing to fuse, and `end` says why.
  std::unique_ptr<PlannedGroup> plan(GroupEnd* end);

 private:
  using Content = GroupContents::Content;
  using Kind = GroupContents::Kind;
  // A step behind which the group may end, and how many results registers hold there.
  struct End {
    std::uint32_t count;
    std::size_t operations;
    std::size_t results;
  };

  [[nodiscard]] std::unique_ptr<PlannedGroup> plan_first(std::size_t count, GroupEnd* end) const;
  [[nodiscard]] std::size_t shorter_count() const;
  void take_steps();
  void accept(std::size_t count);
  bool refuse(Reason reason);
  bool take(const LoopOp& op, const Step& step);
  bool take(const Step& step);
  void build(const Step& step, const std::int32_t* operands);
  bool assign(const std::int32_t* operands);
  bool is_dict(std::int32_t place);
  bool load_global(const Step& step, std::int32_t place);
  PlannedGroup::Load global_of(const Step& step, std::int32_t place);
  bool load_attribute(const Step& step, std::int32_t place);
  bool guard(const Step& step, std::int32_t place);
  bool add_load(const PlannedGroup::Load& load);
  bool take_part(const Step& step, const std::int32_t* operands);
  bool operate(const Step& step, const std::int32_t* operands);
  unsigned temporaries_of(const Step& step, const std::int32_t* operands);
  bool may_outlast_references(unsigned temporaries, const std::int32_t* operands);
  // Gives an operation to the builder; its result becomes that of the step.
  bool add(const array::ArrayVerb& verb, const Step& step);

  // group_planner_values.cpp
  bool refuse_value();
  int compute(const GroupValue& value);
  bool calculate(const Step& step, const std::int32_t* operands);
  bool load_attribute_of(const Step& step, const std::int32_t* operands);
  bool load_method_of_object(const Step& step, const std::int32_t* operands);
  bool store_attribute(const Step& step, const std::int32_t* operands);
  bool store_item(const Step& step, const std::int32_t* operands);
  bool append(const Step& step, const std::int32_t* operands);
  // Whether something else than the register holds the register's content.
  bool is_held(std::int32_t place);
  bool unpack(const Step& step, const std::int32_t* operands);
  // The content of an item of a tuple that the group has built; empty: it is no such tuple, or has no such item.
  std::optional<int> built_item(const Step& step, std::int32_t container, std::int32_t key);
  bool calculate(const LoopOp& op);
  bool calculate(const LoopOp& op, const Step& step);
  bool guard_number(const LoopOp& op, const Step& step);
  bool load_number(const LoopOp& op, const Step& step);
  // The value of a register's object, or of its unboxed number.
  int operand(std::int32_t place, LoopField field);
  bool set_unboxed(std::int32_t place, int value, Unboxed unboxed);
  bool box(std::int32_t place);
  void clear(std::int32_t place);
  bool sync_unboxed(const Step& step);

  // group_planner_calls.cpp
  bool load_method(const Step& step, const std::int32_t* operands);
  bool call(const Step& step, const std::int32_t* operands);
  bool take_component(const Step& step, std::int32_t place, bool is_imaginary);
  bool absolute(const Step& step, const std::int32_t* operands);

  array::MultiPassBuilder& builder() { return contents_.builder(); }
  [[nodiscard]] const array::Numpy& np() const { return contents_.np(); }

  const FusionSource& source_;
  std::unique_ptr<PlannedGroup> group_;
  GroupContents contents_;
  SubscriptReader subscripts_;
  FunctionCalls functions_;
  PlannedStores stores_;
  AcceptedSteps accepted_;
  std::vector<End> ends_;
  std::vector<StoredLocal> locals_;
  Reason reason_ = Reason::kNone;
  const Step* refused_ = nullptr;  // the step that is not in the group
  std::int32_t returned_ = -1;     // register that is returned, where the trace ends behind the group
};

}  // namespace tagalong::replay
