// When the hooks of an opcode fire, from the column of rules.inc.
#pragma once

#include <cstdint>

namespace tagalong::recorder {

enum class When : std::uint8_t { kMissing, kNone, kLater, kBefore, kAfter, kBoth };

When rule_time(std::uint8_t opcode);  // kMissing: no row; a test checks that each opcode has one
bool wants_before(std::uint8_t opcode);
bool wants_after(std::uint8_t opcode);

}  // namespace tagalong::recorder
