// Planned fusion groups as text: what they read, take for granted, compute and leave in registers, and why they end.
// Never runs user code.
#pragma once

#include <string>

#include "replay/arrays/forming/fusion_groups.h"
#include "replay/steps/printer.h"

namespace tagalong::replay {

// `first`: the step with which the group begins.
[[nodiscard]] std::string print_group(const Lowered& lowered, const PlannedGroup& group, const Step& first);
// Why a group ends, or why there is none: `line 31: a call of `cumsum` follows`.
[[nodiscard]] std::string print_end(const Lowered& lowered, const GroupEnd& end);
// All groups that are planned at a step, and why others were not.
[[nodiscard]] std::string print_groups(const Lowered& lowered, const FusionSite& site, const Step& first);

}  // namespace tagalong::replay
