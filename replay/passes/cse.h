// Common subexpressions: a pure node that says the same as an earlier one is that one; a node that reads mutable state,
// if nothing between the two may have changed any (Facts::disturbs). The value that stays lives as long as all
// those that it stands for: until the last drop, or to the end if one of them is never dropped.
//
// New numbers are objects too: `is` tells two results of the same addition apart, and so do containers, for nans. Two
// such nodes are merged only if at most one of their results is seen by anything but arithmetic.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool merge_common(Graph& graph);

}  // namespace tagalong::replay
