// Fusion groups among the steps of an executor: consecutive array operations together with silent steps between them
// (name look-ups, locals, returns of inlined frames), run as an array::MultiPassPlan. Lowering marks where a group may
// begin; what can be fused depends on the operands, so a group is planned when it is run. The steps stay as they are:
// whenever a run differs from the plan, they are run one by one. In a loop program the planner goes through the loop's
// operations, so a fusion group is a part of one iteration.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/forming/group_values.h"
#include "replay/arrays/fusion/multi_pass.h"
#include "replay/arrays/numpy/operators.h"

namespace tagalong::replay {

struct Step;

using array::kMostExternals;
inline constexpr std::size_t kMostNamed = 24;

// Marks the steps where a fusion group may begin. The steps are in program order; the steps of a loop are run by the
// loop's operations.
void mark_groups(std::vector<Step>* steps, const LoopProgram& loop, const std::int32_t* used);
// Whether a fusion group may end with this step.
bool is_group_operation(const Step& step);

// Where a run finds the function in whose globals a name is looked up.
struct NameOwner {
  std::int32_t place = -1;     // register, or -1
  std::int32_t value = -1;     // index in PlannedGroup::computed, or -1
  PyObject* object = nullptr;  // what an earlier load has found, or null; borrowed
  [[nodiscard]] bool is_module() const { return place < 0 && value < 0 && object == nullptr; }
  bool operator==(const NameOwner&) const = default;
};

// Why a group ends, or why there is none.
struct GroupEnd {
  array::FusionReason reason = array::FusionReason::kNone;
  const Step* step = nullptr;  // the operation that is not in the group; null: it is not known
  bool operator==(const GroupEnd&) const = default;
};

// A planned group: `count` steps, or operations of a loop, that are run as one. It holds what to compute and what the
// steps would have left in the registers. Created and released under the GIL only.
struct PlannedGroup : boost::intrusive_ref_counter<PlannedGroup, boost::thread_unsafe_counter> {
  std::unique_ptr<array::MultiPassPlan> plan;
  std::uint32_t count = 0;
  std::int32_t last_line = 0;
  // The root frame returns then; its variables are not filled any more, so no other object may hold the frame.
  bool returns = false;
  GroupEnd end;  // why the next operation is not in the group
  mutable std::uint64_t runs = 0;
  struct External {
    std::int32_t place;  // register; -1: the object that a name is bound to
    PyObject* object;
    int number = -1;  // index in `computed`; -1: not a computed number
  };
  std::vector<External> externals;
  // Conditions of the plan that each run checks.
  std::vector<std::pair<std::int32_t, PyObject*>> same;  // the register holds this very object
  struct Load {
    const Step* step;
    NameOwner function;  // none: the name is an attribute of a module that an earlier load has given
    PyObject* module;
    PyObject* dict;  // the module's dict
    PyObject* value;
  };
  std::vector<Load> loads;
  // Each dict in which `loads` are looked up, in their order, with the version at which all of them last held.
  struct Looked {
    NameOwner function;  // none: `dict` is a module's
    PyObject* dict;
    std::uint64_t version;
    std::uint64_t builtins;  // version of the function's builtins; 0: no name has been found there
  };
  mutable std::vector<Looked> looked;
  // Numbers that names are bound to are part of the plan. They are kept alive, so that no other number gets their
  // address.
  std::vector<Ref> numbers;
  // Other objects that names are bound to; a run that releases the GIL holds them.
  std::vector<PyObject*> named;
  struct Guard {
    const Step* step;
    std::int32_t place;  // register; -1: the object that a name is bound to
    PyObject* object;
    int number = -1;  // index in `computed`; -1: the guard is not about a computed number
  };
  std::vector<Guard> guards;
  std::vector<std::int32_t> returned_frames;  // inlined frames that return in the group and must not be real
  std::vector<GroupValue> computed;           // computed in front of all array operations
  // Slots of a real frame that must hold numbers, since the frame need not show newer ones.
  std::vector<std::pair<std::int32_t, std::int32_t>> numeric_slots;  // frame and slot
  // What is done when all is computed.
  std::vector<std::int32_t> dropped;                       // registers
  std::vector<std::pair<std::int32_t, unsigned>> results;  // register and output
  std::vector<std::pair<std::int32_t, PyObject*>> loaded;  // register and object
  // Register, and the register whose content from before the group it gets.
  std::vector<std::pair<std::int32_t, std::int32_t>> copied;
  std::vector<std::pair<std::int32_t, int>> numeric;  // register and index in `computed`
  // An item of a tuple that is built from results and other objects, and returned.
  struct Item {
    enum class From : std::uint8_t { kRegister, kObject, kResult, kNumber } from;
    int index = -1;  // register before the fusion group, output, or index in `computed`
    PyObject* object = nullptr;
  };
  std::vector<Item> items;
  std::int32_t tuple = -1;  // register; -1: no tuple is returned
  // Attributes of instances, items of dicts and lists that get new values, in program order (group_stores.h).
  struct Store {
    const Step* step;
    int object;  // index in `computed`
    Item value;
    int key = -1;  // of a dict: index in `computed`
  };
  std::vector<Store> stores;
  // Steps that replace what an attribute, an item or a variable of a real frame holds, in program order.
  struct Replaced {
    const Step* step = nullptr;
    int object = -1;  // index in `computed` of the object in which is stored; -1: a frame
    int key = -1;     // of a dict: index in `computed`
  };
  std::vector<Replaced> replaced;
  // Operands behind such steps into which eager NumPy computes where they have lost their other references.
  struct Lasting {
    std::uint32_t external;
    std::uint32_t replaced;  // how many steps come before the operation
  };
  std::vector<Lasting> lasting;
  mutable bool loses_operand = false;  // in a run such an operand had lost them
  std::vector<UnboxedRegister> unboxed;
  struct Local {
    std::int32_t frame;
    std::int32_t slot;
    std::int32_t source;  // register whose content the local has afterwards; -1: unbound
  };
  std::vector<Local> locals;
};

// Whether the group makes the instance or list that a computed value is: no other value is this object.
[[nodiscard]] bool is_new_object(const PlannedGroup& group, int value);

// What a step at which a fusion group may begin has learned.
struct FusionSite {
  std::vector<boost::intrusive_ptr<PlannedGroup>> groups;  // runs hold their own references
  std::uint32_t replaced = 0;                              // how many groups have been replaced since the list is full
  bool is_apart = false;  // plan passes as separate groups: a group ends where a later operation needs its reductions
  bool ends_at_replaced = false;  // an operand had lost its other references: a group ends in front of such operands
  std::uint32_t wait = 0;         // runs of the step before the next attempt
  std::uint32_t patience = 1;     // runs to wait after the next failure
  GroupEnd unplanned;             // why the last attempt found nothing to fuse
  array::FusionReasonCounts reasons;  // counts of all failures by reason
  void put_off(array::FusionReason reason);
  void delay();  // as put_off(), without a reason
};

// The input of the planner: the steps from `first` on, with these registers.
struct FusionSource {
  const Step* first;  // in a loop: all its steps, which the operations refer to
  const Step* end;
  const std::int32_t* used;  // StepProgram::registers_used
  std::int32_t constants;    // registers below this number are constants
  GroupRegisters registers;
  std::span<const LoopOp> operations = {};  // in a loop: its operations, from the step's operation on
  bool in_passes = true;
  bool ends_at_replaced = false;
};
// Called with the place of the last group that `group_quota` lets be formed.
using GroupListener = void (*)(PyCodeObject* code, std::int32_t last_line);
inline constinit GroupListener on_last_group = nullptr;
// Null: there is nothing to fuse, for this reason.
std::unique_ptr<PlannedGroup> plan_group(const array::Numpy& np, const FusionSource& source, GroupEnd* end);

// Whether the names are still bound to the objects that the plan knows. `values`: the computed values of this run.
bool loads_hold(const PlannedGroup& group, PyObject* const* registers, const Ref* values);

}  // namespace tagalong::replay
