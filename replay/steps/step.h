// The result of lowering a graph: steps on registers, and the snapshots of their side exits.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/ir/graph.h"
#include "replay/objects/calls_without_user_code.h"
#include "replay/steps/loop_program.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/objects/instances.h"

namespace tagalong::replay {

struct Attached;
struct FusionSite;
struct FusionSiteDeleter {
  void operator()(FusionSite* site) const;  // defined in arrays/forming, because steps do not know the type
};

// The result of lowering a node.
struct StepCode {
  Op op = Op::null;
  bool in_entry_check = false;
  bool expects_raise = false;  // the recording raised an exception here: the next steps handle it
  bool polls = false;          // eager execution polls the eval breaker behind it
  bool in_loop = false;        // part of the trace's loop: a side exit from it may come from any round
  bool is_header = false;      // the header of that loop
  bool begins_group = false;   // array operations follow that may be fused with it (fusion_groups.h)
  // Its snapshot is the state before it: instead of executing it, the original instructions can continue here.
  bool can_leave = false;
  std::uint16_t operand_count = 0;
  std::uint16_t drop_count = 0;
  std::uint16_t result_count = 0;
  std::int32_t result = -1;  // the register
  std::int32_t immediate = 0;
  std::uint32_t operands =
      0;  // index into StepProgram::registers_used, where operands, further results and drops follow
  SnapshotId snapshot = kNoSnapshot;
  SnapshotId shown = kNoSnapshot;  // the frames that a finaliser sees when the step drops a value
  std::uint32_t temporaries = 0;   // encoded as for the array kernels (arrays/kernels/ufunc_site.h)
  std::int32_t relocation =
      -1;  // for a guard: the step in front of the call that takes the side exit instead (guard_relocation.h)
  std::int32_t guard = -1;  // for such a step: its guard
  std::int32_t since = -1;  // for such a step: the first step that is executed again if attributes have been read since
  PyObject* object = nullptr;  // borrowed from the node
  Ref name;                    // a name that the guard uses beside its object
  std::int32_t line = 0;
  std::int32_t node = 0;       // index of the node in the graph, for display
  std::int32_t exit_loss = 0;  // the part of the trace's gain that is lost by leaving here
  std::int32_t candidate = 0;  // number of the node's candidate fusion group; 0: none
};

// Attributes that instances of some classes have under a step's name: a polymorphic inline cache (U. Hölzle, C.
// Chambers and D. Ungar, "Optimizing dynamically-typed object-oriented languages with polymorphic inline caches",
// 1991).
struct KnownAttributes {
  struct Entry {
    unsigned version = 0;  // version of the class for which `attribute` holds; 0: none
    cpython::Attribute attribute;
  };
  std::array<Entry, 4> entries;
  std::size_t next = 0;  // the entry that is replaced next
};

struct Step : StepCode {
  Step() = default;
  explicit Step(StepCode code) : StepCode(std::move(code)) {}
  // What the step has cached; it is always checked before use.
  mutable std::uint64_t version1 = 0, version2 = 0;
  mutable PyObject* key = nullptr;     // borrowed: valid while the versions are
  mutable PyObject* cached = nullptr;  // borrowed: valid while the versions are
  mutable cpython::DictHint hint;      // for the step's name
  mutable std::unique_ptr<KnownAttributes> attributes;
  mutable CalledBefore called;
  mutable Ref helper;
  mutable std::uint32_t failures = 0;  // number of misses and side exits here
  mutable std::unique_ptr<array::UfuncSite> site;
  mutable Attached* target = nullptr;  // where the side exit leads, once it has been looked up
  mutable std::vector<Transfer> transfers;
  mutable std::unique_ptr<std::vector<std::int32_t>> rest;  // registers of values that no frame has at the side exit
  mutable std::unique_ptr<FusionSite, FusionSiteDeleter> group;
};

struct LoweredSnapshot {
  std::int32_t frame = 0;
  std::int32_t instruction = 0;
  std::int32_t key = 0;         // snapshots with equal keys have equal local slots
  bool has_shared = false;      // one register is in two slots
  bool is_entry_state = false;  // the state at the executor's entry, before anything has happened
  // Usually a handful; there are as many snapshots as instructions.
  boost::container::small_vector<SnapshotId, 4> chain;     // from the root to this one
  boost::container::small_vector<std::int32_t, 6> locals;  // the registers, -1: unbound
  boost::container::small_vector<std::int32_t, 6> stack;
  Consuming consuming;
  // The depth without the state of a consumer, which belongs to C code.
  [[nodiscard]] std::size_t depth() const { return stack.size() - static_cast<std::size_t>(consuming.values); }
  // The register of a slot: locals, then stack.
  [[nodiscard]] std::int32_t place_of(std::int32_t slot) const {
    const auto place = static_cast<std::size_t>(slot);
    return place < locals.size() ? locals[place] : stack[place - locals.size()];
  }
  [[nodiscard]] bool has(std::int32_t place) const {
    return std::ranges::find(locals, place) != locals.end() || std::ranges::find(stack, place) != stack.end();
  }
};

}  // namespace tagalong::replay
