// The second half of a side exit: the frames that a run has materialised run to their end in the interpreter, from the
// innermost outwards, and each gives its result to the instruction of its caller.
#pragma once

#include <vector>

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// What a frame needs besides its slots when its callee has ended.
struct ResumedFrame {
  Ref instance;               // the object under construction
  std::vector<Ref> consumed;  // the state of a consumer (consumers.h)
};

// `frames`: one for each level of the snapshot. `first_own`: the level of the first frame that is run here. `raise`:
// the innermost frame raises the exception that is set.
Outcome resume_frames(RunState& state, const LoweredSnapshot& inner, std::vector<ResumedFrame> frames, int first_own,
                      bool raise);

}  // namespace tagalong::replay
