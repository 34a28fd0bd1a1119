// Objects in registers that no frame of a snapshot holds, such as an iterator behind the end of its loop. Eager
// execution drops them with the instruction of the guard, so a run that continues behind the guard drops them there.
#pragma once

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// Where the step leaves. A finaliser finds the frame at the instruction before.
void drop_leftovers(RunState& state, const Step& step);

}  // namespace tagalong::replay
