// Common subexpressions. A pure node that repeats an earlier node is replaced by it. A node that reads mutable state is
// replaced if nothing between the two may have changed the state (AbstractValues::disturbs). The remaining value lives
// as long as all values that it replaces: until the last drop, or to the end if one of them is never dropped.
//
// A new number is a new object: `is` can distinguish two results of the same addition, and so can containers, for NaNs.
// Two such nodes are merged only if at most one of the results is used by anything but arithmetic.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool merge_common(Graph& graph);

}  // namespace tagalong::replay
