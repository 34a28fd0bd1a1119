// Guards inside of inlined calls whose failure may leave in front of the call. Where nothing has happened since then
// but what can be done again, the caller's frame goes on with its instruction: what follows is recorded as any other
// bridge of the root frame, and stitched, while a frame in the middle of a callee can only go on as written.
//
//   for (const Retreat& retreat : find_relocations(graph)) { … }
#pragma once

#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

struct GuardRelocation {
  std::size_t guard;      // node
  std::size_t from;       // the first node that is done again
  SnapshotId state;       // before that: of the root frame alone
  bool reads_attributes;  // which may have run code; the run knows
};

// At most one for each guard; in the order of the guards.
[[nodiscard]] std::vector<GuardRelocation> find_relocations(const Graph& graph);

}  // namespace tagalong::replay
