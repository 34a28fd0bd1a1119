// Constants under guards. After guard_is{object} %v (guard_true, guard_false) later uses of %v are that constant;
// operations on constants become their results; guards that constants answer for ever go away. It refuses to fold
// what would raise, grow large or run code (evaluate.h), and a guard that must fail stays: its exit is the answer.
// `drop`s keep the value they release, and a snapshot that an earlier node uses keeps what it had there.
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

// True: something changed (so for all passes).
bool fold(Graph& graph);

}  // namespace tagalong::replay
