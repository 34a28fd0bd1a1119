// How a run ends, or continues in another executor, after a step that is not followed by the next one.
#pragma once

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// Return, miss, trace link or side exit.
Outcome end_run(RunState& state, const Step& step, StepResult result);

}  // namespace tagalong::replay
