// The text of integer immediates that stand for an operator: `+` for NB_ADD, `<=` for Py_LE, ... The one place where
// numbers of the interpreter and their texts meet; printer and parser both use it. Refuses (nullopt) what has no text.
//
//   operator_text(Op::binary_op, 0)      -> "+"
//   operator_number(Op::binary_op, "+")  -> 0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "replay/ir/ops.h"

namespace tagalong::replay {

[[nodiscard]] std::optional<std::string_view> operator_text(Op op, std::int64_t number);
[[nodiscard]] std::optional<std::int64_t> operator_number(Op op, std::string_view text);

}  // namespace tagalong::replay
