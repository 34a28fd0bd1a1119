// The text of integer immediates that mean an operator: `+` for NB_ADD, `<=` for Py_LE, ... Printer and parser both use
// this one table. Numbers without a text are refused (nullopt).
//
//   operator_text(Op::binary_op, 0)      -> "+"
//   operator_number(Op::binary_op, "+")  -> 0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "replay/ir/ops.h"

namespace tagalong::replay {

// The immediate of unary_op and array_unary. The last is no operator of the language: the builtin abs() of arrays.
enum class UnaryOperator : std::uint8_t { kNegative, kPositive, kInvert, kAbsolute };

[[nodiscard]] std::optional<std::string_view> operator_text(Op op, std::int64_t number);
[[nodiscard]] std::optional<std::int64_t> operator_number(Op op, std::string_view text);

}  // namespace tagalong::replay
