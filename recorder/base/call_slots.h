// The stack slots of a call. Below the arguments are two slots: a null and the callable, or a function and its first
// argument. Where the null lies depends on the version of CPython; graphs have it first in all versions. Some versions
// have the tuple of keyword names on top of the arguments.
#pragma once

#include <array>

#include "rewriter/code.h"
#include "version/snippets.h"

namespace tagalong::recorder {

inline constexpr int kCallSlots = 2;
// Which of the two slots is null if the call has no first argument of its own, counted from below.
inline constexpr int kNullSlot = version::kNullBelowCallable ? 0 : 1;

constexpr bool is_call(rewriter::Opcode opcode) {
  return opcode == rewriter::op::kCALL || opcode == rewriter::op::kCALL_KW;
}
// How many values the tuple of keyword names takes on the stack.
constexpr int names_on_stack(rewriter::Opcode opcode) { return opcode == rewriter::op::kCALL_KW ? 1 : 0; }
// How many values of the stack belong to the call.
constexpr int operands_of_call(const rewriter::Instruction& call) {
  return static_cast<int>(call.arg) + kCallSlots + names_on_stack(call.opcode);
}

// The contents of the two slots in the order of graphs. `slots`: the lower one.
template <typename T>
constexpr std::array<T, kCallSlots> in_graph_order(const T* slots, bool has_null) {
  return has_null && kNullSlot != 0 ? std::array<T, kCallSlots>{slots[1], slots[0]}
                                    : std::array<T, kCallSlots>{slots[0], slots[1]};
}
// Where the callable is.
template <typename T>
constexpr T* callable_among(T* slots, bool has_null) {
  return slots + (has_null ? 1 - kNullSlot : 0);
}

}  // namespace tagalong::recorder
