// Constants behind guards. Behind guard_is{object} %v (guard_true, guard_false) later uses of %v become that constant;
// operations on constants become their results; guards that always hold for a constant are removed. Operations that
// would raise, give a large result or run code are not folded (evaluate.h). A guard that always fails is kept, because
// its side exit is the result. `drop`s keep their value, and a snapshot that an earlier node uses keeps its values.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

// True: something changed (as in all passes).
bool fold(Graph& graph);

}  // namespace tagalong::replay
