// Lists what is wrong with a graph, as sentences; empty if nothing is. Only reads the graph, and never throws for a
// broken one. It checks the structure: definitions before uses, uses (also in snapshots) before drops, counts and
// immediates against the op table, snapshots where they are needed, frames and parents, one terminator. It does not
// check whether the operations are the right ones for the recorded program.
//
//   for (const std::string& problem : verify(graph)) { ... }
#pragma once

#include <string>
#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

[[nodiscard]] std::vector<std::string> verify(const Graph& graph);

}  // namespace tagalong::replay
