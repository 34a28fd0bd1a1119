// Removes redundant guards: the same guard on the same value; guard_type where the type is known from a guard or from
// the operation that made the value; guard_is_not with an object of another type. Guards on mutable state (functions,
// type versions, types of instances whose class can be assigned) are removed only if nothing has run in between that
// could have changed the state. No guard is moved: a side exit keeps its position and snapshot.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool drop_known_guards(Graph& graph);

}  // namespace tagalong::replay
