// What lowering makes of a graph: steps over registers, and the snapshots that a step may leave with.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/ir/graph.h"
#include "replay/objects/quiet_calls.h"
#include "replay/steps/loop_program.h"
#include "rewriter/cpython/dicts.h"
#include "rewriter/cpython/instances.h"

namespace tagalong::replay {

struct Attached;
struct FusionSite;
struct FusionSiteDeleter {
  void operator()(FusionSite* site) const;  // in arrays/forming: steps need not know what a site is
};

// What lowering has made of a node.
struct StepCode {
  Op op = Op::null;
  bool in_entry_check = false;
  bool expects_raise = false;  // an exception is what was recorded: the next steps go on with it
  bool polls = false;          // behind it eager execution looks for signals and for others who want the GIL
  bool in_loop = false;        // of the loop that closes the trace: leaves, whoever has entered
  bool is_header = false;      // of that loop
  bool begins_group = false;   // array operations follow that may be fused with it (fusion_groups.h)
  bool can_leave = false;      // its snapshot is the state before it: the original instructions may go on here instead
  std::uint16_t operand_count = 0;
  std::uint16_t drop_count = 0;
  std::uint16_t result_count = 0;
  std::int32_t result = -1;  // register
  std::int32_t immediate = 0;
  std::uint32_t operands = 0;  // index into Executor::registers_used_: operands, further results, drops
  SnapshotId snapshot = kNoSnapshot;
  SnapshotId shown = kNoSnapshot;  // what a finaliser of what it drops sees of the frames
  std::uint32_t temporaries = 0;   // as the array kernels take them (arrays/kernels/ufunc_site.h)
  std::int32_t relocation =
      -1;                      // a guard: the step that leaves in its place, in front of the call (guard_relocation.h)
  std::int32_t guard = -1;     // such a step: the guard
  std::int32_t since = -1;     // and the first step that is done again, if attributes have been read since
  PyObject* object = nullptr;  // borrowed from the node
  Ref name;                    // of what the guard is about, beside its object
  std::int32_t line = 0;
  std::int32_t node = 0;     // in the graph, for people
  std::int32_t candidate = 0;  // number of the node's candidate fusion group; 0: none
  std::int32_t forgone = 0;  // who leaves here has not earned this of what the trace is worth
};

// What instances of some classes have by a step's name: a polymorphic inline cache (U. Hölzle, C. Chambers and D.
// Ungar, "Optimizing dynamically-typed object-oriented languages with polymorphic inline caches", 1991).
struct KnownAttributes {
  struct Way {
    unsigned version = 0;  // of the class, as long as `attribute` holds; 0: none
    cpython::Attribute attribute;
  };
  std::array<Way, 4> ways;
  std::size_t next = 0;  // to be forgotten
};

struct Step : StepCode {
  Step() = default;
  explicit Step(StepCode code) : StepCode(std::move(code)) {}
  // What the step has learned; never an assumption, always checked.
  mutable std::uint64_t version1 = 0, version2 = 0;
  mutable PyObject* key = nullptr;     // borrowed: valid while the versions are
  mutable PyObject* cached = nullptr;  // borrowed: valid while the versions are
  mutable cpython::DictHint hint;      // of the name
  mutable std::unique_ptr<KnownAttributes> attributes;
  mutable CalledBefore called;
  mutable Ref helper;
  mutable std::uint32_t failures = 0;  // misses and side exits here
  mutable std::unique_ptr<array::UfuncSite> site;
  mutable Attached* target = nullptr;  // where it leaves, once looked up
  mutable std::vector<Transfer> transfers;
  mutable std::unique_ptr<std::vector<std::int32_t>> rest;  // registers of what no frame has where it leaves
  mutable std::unique_ptr<FusionSite, FusionSiteDeleter> group;
};

struct LoweredSnapshot {
  std::int32_t frame = 0;
  std::int32_t instruction = 0;
  std::int32_t key = 0;     // equal keys: equal contents of all local slots
  bool has_shared = false;  // one register is in two places
  bool is_idle = false;     // where the executor was entered, and nothing has happened yet
  // Mostly a handful; there are as many snapshots as instructions.
  boost::container::small_vector<SnapshotId, 4> chain;     // from the root to this one
  boost::container::small_vector<std::int32_t, 6> locals;  // registers, -1: unbound
  boost::container::small_vector<std::int32_t, 6> stack;
  Consuming consuming;
  // Without the state of a consumer, which is C code's.
  [[nodiscard]] std::size_t depth() const { return stack.size() - static_cast<std::size_t>(consuming.values); }
  // Register of a slot: locals, then stack.
  [[nodiscard]] std::int32_t place_of(std::int32_t slot) const {
    const auto place = static_cast<std::size_t>(slot);
    return place < locals.size() ? locals[place] : stack[place - locals.size()];
  }
  [[nodiscard]] bool has(std::int32_t place) const {
    return std::ranges::find(locals, place) != locals.end() || std::ranges::find(stack, place) != stack.end();
  }
};

}  // namespace tagalong::replay
