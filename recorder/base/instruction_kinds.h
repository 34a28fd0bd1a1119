// What instructions mean, in words that all versions of CPython share.
#pragma once

#include <cstdint>
#include <optional>

#include "replay/ir/operators.h"
#include "rewriter/code.h"
#include "version/snippets.h"

namespace tagalong::recorder {

// A conditional jump on the truth of the value on top of the stack.
struct TruthJump {
  bool if_true = false;           // jumps if the value is true; otherwise jumps if it is false
  bool keeps_when_taken = false;  // the value stays on the stack if the jump is taken
};

constexpr std::optional<TruthJump> truth_jump(rewriter::Opcode opcode) {
  namespace op = rewriter::op;
  switch (opcode) {
    case op::kPOP_JUMP_IF_FALSE:
    case op::kPOP_JUMP_FORWARD_IF_FALSE:
    case op::kPOP_JUMP_BACKWARD_IF_FALSE:
      return TruthJump{false, false};
    case op::kPOP_JUMP_IF_TRUE:
    case op::kPOP_JUMP_FORWARD_IF_TRUE:
    case op::kPOP_JUMP_BACKWARD_IF_TRUE:
      return TruthJump{true, false};
    case op::kJUMP_IF_FALSE_OR_POP:
      return TruthJump{false, true};
    case op::kJUMP_IF_TRUE_OR_POP:
      return TruthJump{true, true};
    default:
      return std::nullopt;
  }
}

// A jump on whether the value on top of the stack is None: whether it jumps if so.
constexpr std::optional<bool> none_jump(rewriter::Opcode opcode) {
  namespace op = rewriter::op;
  switch (opcode) {
    case op::kPOP_JUMP_IF_NONE:
    case op::kPOP_JUMP_FORWARD_IF_NONE:
    case op::kPOP_JUMP_BACKWARD_IF_NONE:
      return true;
    case op::kPOP_JUMP_IF_NOT_NONE:
    case op::kPOP_JUMP_FORWARD_IF_NOT_NONE:
    case op::kPOP_JUMP_BACKWARD_IF_NOT_NONE:
      return false;
    default:
      return std::nullopt;
  }
}

// Whether the instruction loads an attribute, or a method, for a call of it.
inline bool loads_attribute(rewriter::Opcode opcode) {
  return opcode == rewriter::op::kLOAD_ATTR || opcode == rewriter::op::kLOAD_METHOD;
}
// Whether the instruction leaves two values: a function and its first argument, or a null and the attribute.
inline bool loads_method(const rewriter::Instruction& instruction) {
  return instruction.opcode == rewriter::op::kLOAD_METHOD ||
         (instruction.opcode == rewriter::op::kLOAD_ATTR &&
          rewriter::has_second_value(instruction.opcode, instruction.arg));
}

// Whether the frame ends with the instruction, unless it raises.
inline bool returns(rewriter::Opcode opcode) {
  return opcode == rewriter::op::kRETURN_VALUE || opcode == rewriter::op::kRETURN_CONST;
}

// Where a loop goes on that has no item left. `loop`: a FOR_ITER.
inline int end_of_loop(const rewriter::Instruction& loop) {
  return loop.target + static_cast<int>(version::kEndOfLoop.size());
}

constexpr std::optional<replay::UnaryOperator> unary_operator(rewriter::Opcode opcode) {
  namespace op = rewriter::op;
  switch (opcode) {
    case op::kUNARY_NEGATIVE:
      return replay::UnaryOperator::kNegative;
    case op::kUNARY_POSITIVE:
      return replay::UnaryOperator::kPositive;
    case op::kUNARY_INVERT:
      return replay::UnaryOperator::kInvert;
    default:
      return std::nullopt;
  }
}

}  // namespace tagalong::recorder
