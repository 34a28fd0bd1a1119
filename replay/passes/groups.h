// Forms fusion groups: numbers the candidate groups of a graph, from 1 on in program order, in Node::group. A candidate
// is a run of array operations together with nodes between them that the program cannot see (name look-ups, attributes,
// items, numbers, locals, returns of inlined frames). It may be a single operation, since NumPy takes a detour for some
// operands. What of it is really fused depends on the operands of a run: when the run comes to a candidate, the planner
// (arrays/forming/) plans the longest group that these operands allow, and never goes beyond the candidate's end.
//
//   form_groups(graph);   // true: a number has changed
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

bool form_groups(Graph& graph);

}  // namespace tagalong::replay
