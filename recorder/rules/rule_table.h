// Runs the recording rule of an instruction, from rules.inc.
#pragma once

#include "rewriter/code.h"

namespace tagalong::recorder {

class Session;

void run_rule(Session& session, const rewriter::Instruction& instruction);

}  // namespace tagalong::recorder
