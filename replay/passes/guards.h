// Guards that an earlier one answers: the same guard on the same value; guard_type where the type is known from a guard
// or from the operation that made the value; guard_is_not of an object of another type. Guards on state that others may
// change (functions, type versions, types of instances that can get another class) only while nothing has run that
// could have changed it. No guard is moved: an exit keeps its place and its snapshot.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool drop_known_guards(Graph& graph);

}  // namespace tagalong::replay
