// Dead nodes: removable ones without uses, or whose only use is a drop. A use in a snapshot of a remaining node is a
// use. No object dies earlier than before: a removed node kept its operands alive until its result was dropped, so
// their drops move there. A read of mutable state whose result outlives an effect is kept, and so is a dropped param.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool remove_dead(Graph& graph);

}  // namespace tagalong::replay
