// The recording rules, derived from rules.inc: when the hooks of an opcode fire and which rule they run.
#pragma once

#include <cstdint>

#include "rewriter/code.h"

namespace tagalong::recorder {

class Session;

enum class When : std::uint8_t { kMissing, kNone, kLater, kBefore, kAfter, kBoth };

When rule_time(std::uint8_t opcode);  // kMissing: no row (a test sees to it that there is none such)
bool wants_before(std::uint8_t opcode);
bool wants_after(std::uint8_t opcode);
void run_rule(Session& session, const rewriter::Instruction& instruction);

}  // namespace tagalong::recorder
