// Conditional jumps on the truth of the value on top of the stack.
#pragma once

#include <cstdint>
#include <optional>

#include "rewriter/versions/opcodes.h"

namespace tagalong::recorder {

struct TruthJump {
  bool if_true = false;           // jumps if the value is true; otherwise jumps if it is false
  bool keeps_when_taken = false;  // the value stays on the stack if the jump is taken
};

constexpr std::optional<TruthJump> truth_jump(std::uint8_t opcode) {
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

}  // namespace tagalong::recorder
