// Common subexpressions: a pure node that says the same as an earlier one is that one; a node that reads mutable state,
// if nothing between the two may have changed any (Facts::disturbs). The value that stays lives until the last drop of
// those it stands for.
#pragma once

#include "replay/graph.h"

namespace tagalong::replay {

bool merge_common(Graph& graph);

}  // namespace tagalong::replay
