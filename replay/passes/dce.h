// Dead nodes: what can be removed and is used by nobody, or only dropped. A use in a snapshot of a node that stays is a
// use. Nothing dies earlier than before: a removed node kept its operands alive until its result was dropped, so their
// drops move there; a read of mutable state whose result outlives an effect stays, and so does a dropped param.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool remove_dead(Graph& graph);

}  // namespace tagalong::replay
