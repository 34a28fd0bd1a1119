// Running fusion groups (arrays/forming/fusion_groups.h): array operations in a row are computed as one, and then the
// registers get what the steps would have left there. A group is refused as long as nothing has happened.
#pragma once

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// Whether the executor fuses array operations.
[[nodiscard]] bool fuses_groups(const RunState& state);
// The group that begins with the step. False: nothing has happened, the steps are executed one by one.
bool run_fusion_group(RunState& state, const Step& step);
inline bool try_fusion_group(RunState& state, const Step& step) {
  return step.begins_group && fuses_groups(state) && run_fusion_group(state, step);
}
// The whole trace (Straight) as one fusion group. False: nothing has happened.
bool run_whole_trace(RunState& state);

}  // namespace tagalong::replay
