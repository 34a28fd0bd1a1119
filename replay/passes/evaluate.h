// The result of an operation whose operands are constants, computed through the C API as the interpreter would. Refuses
// (an empty Ref, no exception set) whatever could run code of the user's, raises, or gives a nan or something large:
// the limits are those of CPython's own constant folder (ints of at most 128 bits).
//
//   if (Ref result = evaluate(node, left, right)) ...   // right is null for operations of one operand
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

[[nodiscard]] Ref evaluate(const Node& node, Borrowed left, Borrowed right);

}  // namespace tagalong::replay
