// Fusion groups that are planned while recording, as text for the log. Never runs user code.
#pragma once

#include <string>

#include "replay/arrays/fusion/fusion_reasons.h"
#include "replay/arrays/fusion/multi_pass.h"

namespace tagalong::recorder {

// The instructions of the first and the last operation, as code units of the current frame's code.
struct OperationRange {
  int first;
  int last;
};

// `plan`: null if the operations cannot be planned. `reason`: why there is no plan, or why its run has done nothing.
[[nodiscard]] std::string print_recorded_group(OperationRange range, const array::MultiPassPlan* plan,
                                               array::FusionReason reason);

// Called with the text of each such group. Null while the log has no topic `kernels`; used under the GIL.
extern void (*recorded_group_listener)(const std::string& text);

}  // namespace tagalong::recorder
