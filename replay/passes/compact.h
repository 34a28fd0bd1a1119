// Numbers values and snapshots anew, without gaps, in the order of their appearance; snapshots that no node uses go.
// Frames keep their numbers (nodes name them); a frame's function or instance that nothing defines becomes kNoValue.
// Whoever keeps numbers of values or snapshots outside of the graph must not keep them across this pass.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool compact(Graph& graph);

}  // namespace tagalong::replay
