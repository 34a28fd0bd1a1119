// What is wrong with a graph, as sentences; empty: nothing. Reads the graph only, never throws for a broken one, and
// looks at structure: definitions before uses, uses (of snapshots too) before drops, counts and immediates as the op
// table says, snapshots where they are needed, frames and parents, one terminator. Whether an operation is the right
// one for what was recorded is not its business.
//
//   for (const std::string& problem : verify(graph)) { ... }
#pragma once

#include <string>
#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

[[nodiscard]] std::vector<std::string> verify(const Graph& graph);

}  // namespace tagalong::replay
