// Renumbers values and snapshots without gaps, in the order of their first use; removes snapshots that no node uses.
// Frames keep their numbers (nodes contain them); a frame's function or instance that no node defines becomes kNoValue.
// Numbers of values or snapshots that are stored outside of the graph are invalid after this pass.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool compact(Graph& graph);

}  // namespace tagalong::replay
