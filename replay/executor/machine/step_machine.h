// The step machine: the dispatch over the steps of a trace.
#pragma once

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// From the first step until the run ends, or is linked to another executor.
Outcome run_steps(RunState& state);
// One step of a loop program: without memory it raises MemoryError.
StepResult perform_step(RunState& state, const Step& step);

}  // namespace tagalong::replay
