// When the hooks of an opcode fire, from the column of version/rules.inc.
#pragma once

#include <cstdint>

#include "rewriter/versions/opcodes.h"

namespace tagalong::recorder {

enum class When : std::uint8_t { kMissing, kNone, kLater, kBefore, kAfter, kBoth };

When rule_time(rewriter::Opcode opcode);  // kMissing: no row; a test checks that each opcode has one
bool wants_before(rewriter::Opcode opcode);
bool wants_after(rewriter::Opcode opcode);

}  // namespace tagalong::recorder
