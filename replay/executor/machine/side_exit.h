// Side exits: the values of the registers go to the frames of a snapshot, and the original instructions continue.
#pragma once

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// Leaves at the step's snapshot; `raise`: as if its instruction had raised the exception that is set. Inlined frames
// run to their end here; the root frame of a run that was entered from a frame continues as Run::side_exit says.
Outcome leave_run(RunState& state, const Step& step, bool raise);

}  // namespace tagalong::replay
