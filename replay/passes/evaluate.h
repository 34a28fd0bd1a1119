// The result of an operation whose operands are constants, computed through the C API as the interpreter would. Refuses
// (an empty Ref, no exception set) operations that could run user code or raise, and results that are a NaN or large:
// the limits are those of CPython's own constant folder (ints of at most 128 bits).
//
//   if (Ref result = evaluate(node, left, right)) ...   // right is null for operations of one operand
#pragma once

#include "replay/ir/graph.h"

namespace tagalong::replay {

[[nodiscard]] Ref evaluate(const Node& node, Borrowed left, Borrowed right);

}  // namespace tagalong::replay
