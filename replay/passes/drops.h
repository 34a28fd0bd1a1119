// Drops, set right after other passes have merged or replaced values: a value is dropped once, after its last use (by a
// node, or by a snapshot of one); constants and nulls are not dropped at all; a drop of nothing goes.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool keep_last_drops(Graph& graph);

}  // namespace tagalong::replay
