// What instructions mean, in words that all versions of CPython share.
#pragma once

#include <cstdint>
#include <optional>

#include "replay/ir/operators.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::recorder {

// A conditional jump on the truth of the value on top of the stack.
struct TruthJump {
  bool if_true = false;           // jumps if the value is true; otherwise jumps if it is false
  bool keeps_when_taken = false;  // the value stays on the stack if the jump is taken
};

constexpr std::optional<TruthJump> truth_jump(rewriter::Opcode opcode) {
  namespace op = rewriter::op;
  switch (opcode) {
    case op::kPOP_JUMP_FORWARD_IF_FALSE:
    case op::kPOP_JUMP_BACKWARD_IF_FALSE:
      return TruthJump{false, false};
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
