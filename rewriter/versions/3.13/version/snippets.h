// The shapes of calls and loops in CPython 3.13.
#pragma once

#include <array>

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

namespace op = rewriter::op;

inline constexpr bool kNullBelowCallable = false;  // PUSH_NULL comes in front of the callable
inline constexpr bool kHasPrecall = false;         // PRECALL comes in front of CALL
inline constexpr bool kNamesOnStack = true;  // CALL_KW takes the names of arguments; else KW_NAMES in front of CALL
// The instructions at the target of FOR_ITER that the interpreter skips, or executes to drop the iterator.
inline constexpr std::array kEndOfLoop{op::kEND_FOR, op::kPOP_TOP};
inline constexpr bool kSendKeepsReceiver =
    true;  // SEND's jump leaves the receiver below the value that it has returned
// How far below its own container DICT_MERGE finds the function that is called, for error texts.
inline constexpr int kCallableOfMerge = 3;
inline constexpr rewriter::Opcode kLoadCell = op::kLOAD_FAST;  // loads the cell of a variable
inline constexpr rewriter::Opcode kJumpIfTrue = op::kPOP_JUMP_IF_TRUE;

}  // namespace tagalong::version
