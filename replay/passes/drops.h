// Corrects the drops after other passes have merged or replaced values: a value is dropped once, after its last use (by
// a node or a snapshot of one); constants and nulls are never dropped; empty drops are removed.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool keep_last_drops(Graph& graph);

}  // namespace tagalong::replay
