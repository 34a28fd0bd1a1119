// Guards inside inlined calls whose failure may leave in front of the call: if everything since then can be repeated,
// the caller's frame continues with its call instruction. What follows is recorded like any other bridge of the root
// frame and linked, whereas a frame in the middle of a callee could only continue in the interpreter.
//
//   for (const GuardRelocation& relocation : find_relocations(graph)) { … }
#pragma once

#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

struct GuardRelocation {
  std::size_t guard;      // node
  std::size_t from;       // the first node that is repeated
  SnapshotId state;       // before that, of the root frame alone
  bool reads_attributes;  // which may have run user code; the run knows
};

// At most one for each guard; in the order of the guards.
[[nodiscard]] std::vector<GuardRelocation> find_relocations(const Graph& graph);

}  // namespace tagalong::replay
