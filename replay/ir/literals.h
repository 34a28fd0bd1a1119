// Constant objects as text that reads back as exactly the same value: None, True, False, Ellipsis, exact int, float,
// complex, str and bytes, and exact tuples and frozensets of them. `literal` refuses all other objects (nullopt) and
// never runs user code. It differs from repr where repr does not read back: complex(0.0, -1.0), frozenset(1, 2), nan,
// -nan, inf, ints beyond 64 bits in hexadecimal. `parse_literal` never evaluates anything.
//
//   literal(object)                 -> "(1.5, 'x')"
//   parse_literal(text, position)   -> the object; position is behind it
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "rewriter/base/ref.h"

namespace tagalong::replay {

// A mistake in a literal's text, and its position.
class LiteralError : public std::runtime_error {
 public:
  LiteralError(const std::string& message, std::size_t position) : std::runtime_error(message), position_(position) {}
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

[[nodiscard]] std::optional<std::string> literal(Borrowed object);
[[nodiscard]] Ref parse_literal(std::string_view text, std::size_t& position);

}  // namespace tagalong::replay
