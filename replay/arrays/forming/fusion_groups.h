// Fusion groups among the steps of an executor: array operations in a row, with what stands between them and cannot be
// seen (names that are looked up, locals, returns of inlined frames), as array::Sweeps. Where a row begins is found
// when a graph is lowered; what of it can be fused, when it is run, because that depends on the operands. The steps
// stay as they are: whenever anything is not as planned they are run one by one. In a loop program it is its operations
// that are gone through, so a fusion group is a part of a round.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/forming/group_numbers.h"
#include "replay/arrays/fusion/multi_pass.h"

namespace tagalong::replay {

struct Step;

using array::kMostExternals;
inline constexpr std::size_t kMostNamed = 24;

// Marks the steps where a fusion group may begin. The steps lie in memory in the order of the program; those of a loop
// are run by its operations.
void mark_groups(std::vector<Step>* steps, const LoopProgram& loop, const std::int32_t* used);
// What a fusion group may end with.
bool is_group_operation(const Step& step);

// The steps, or operations of a loop, `count` from the first one on as one: what to compute, and what they would have
// left in the registers. Held and given up under the GIL only.
struct PlannedGroup : boost::intrusive_ref_counter<PlannedGroup, boost::thread_unsafe_counter> {
  std::unique_ptr<array::MultiPassPlan> plan;
  std::uint32_t count = 0;
  std::int32_t last_line = 0;
  bool returns = false;  // the root frame returns then: its variables are not filled any more, so nobody may hold it
  array::FusionReason end = array::FusionReason::kNone;  // why the next operation is not in it
  mutable std::uint64_t runs = 0;
  struct External {
    std::int32_t place;  // register; -1: what a name is bound to
    PyObject* object;
    int number = -1;  // it is one of `computed`
  };
  std::vector<External> externals;
  // What the plan took for granted.
  std::vector<std::pair<std::int32_t, PyObject*>> same;  // a register has this very object
  struct Load {
    const Step* step;
    std::int32_t function;  // register; -1: the name is an attribute of a module that an earlier load has given,
    PyObject* module;
    PyObject* dict;  // of the module
    PyObject* value;
  };
  std::vector<Load> loads;
  // Each dict that these look at, in their order, with its version when all of them held at last.
  struct Looked {
    std::int32_t function;  // register; -1: `dict` is a module's
    PyObject* dict;
    std::uint64_t version;
    std::uint64_t builtins;  // version of the function's builtins; 0: nothing has been found there
  };
  mutable std::vector<Looked> looked;
  // Numbers that names are bound to are part of the plan: as long as they live no other one gets their address.
  std::vector<Ref> numbers;
  // What else names are bound to: a run that gives the GIL away holds it.
  std::vector<PyObject*> named;
  struct Guard {
    const Step* step;
    std::int32_t place;  // register; -1: what a name is bound to
    PyObject* object;
    int number = -1;  // it is about one of `computed`
  };
  std::vector<Guard> guards;
  std::vector<std::int32_t> returned_frames;  // inlined ones, which must not be real
  std::vector<FusionNumber> computed;         // in front of all else
  // Of a real frame: what they hold must be a number, for which a newer one need not be shown.
  std::vector<std::pair<std::int32_t, std::int32_t>> numeric_slots;  // frame and slot
  // What is done when all is computed.
  std::vector<std::int32_t> dropped;                       // registers
  std::vector<std::pair<std::int32_t, unsigned>> results;  // register and output
  std::vector<std::pair<std::int32_t, PyObject*>> loaded;  // register and object
  std::vector<std::pair<std::int32_t, int>> numeric;       // register and number of `computed`
  // Of a tuple that is made of what there is then, and returned.
  struct Item {
    enum class From : std::uint8_t { kRegister, kObject, kResult, kNumber } from;
    int index = -1;  // register before the fusion group, output, or number of `computed`
    PyObject* object = nullptr;
  };
  std::vector<Item> items;
  std::int32_t tuple = -1;  // the register; -1: there is none
  std::vector<UnboxedRegister> unboxed;
  struct Local {
    std::int32_t frame;
    std::int32_t slot;
    std::int32_t source;  // register whose content it is afterwards; -1: nothing any more
  };
  std::vector<Local> locals;
};

// What a step that may begin a fusion group has learned.
struct FusionSite {
  std::vector<boost::intrusive_ptr<PlannedGroup>> groups;      // those that run are held by who runs them
  std::uint32_t replaced = 0;                                  // of a full list
  bool is_apart = false;                                       // what reductions give is for the next fusion group
  std::uint32_t wait = 0;                                      // runs of the step before the next attempt
  std::uint32_t patience = 1;                                  // how long it waits after the next failure
  array::FusionReason unplanned = array::FusionReason::kNone;  // why there was nothing to fuse, the last time
  array::FusionReasonCounts reasons;                           // why not, each time
  void put_off(array::FusionReason reason);
  void delay();  // the same, without a reason
};

// Looks at the steps from `first` on, with these registers. Null: there is nothing to fuse, for this reason.
struct FusionSource {
  const Step* first;  // of a loop: all its steps, which the operations name
  const Step* end;
  const std::int32_t* used;  // Executor::registers_used_
  std::int32_t constants;    // registers below are constants
  NumberRegisters registers;
  std::span<const LoopOp> operations = {};  // of a loop, from that of the step on
  bool in_passes = true;
};
// Is told of the last group that `group_quota` lets be formed: where it is.
using GroupListener = void (*)(PyCodeObject* code, std::int32_t last_line);
inline constinit GroupListener on_last_group = nullptr;
std::unique_ptr<PlannedGroup> plan_group(const array::Numpy& np, const FusionSource& source,
                                         array::FusionReason* reason);

// Whether the names are still bound to what the plan knows.
bool loads_hold(const PlannedGroup& group, PyObject* const* registers);

array::UnaryOperator unary_operator(int opcode);

}  // namespace tagalong::replay
