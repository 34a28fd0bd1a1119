// After a recording has stopped, frames still run its recording code, with hooks that have nothing to do. The hook
// object in that code is replaced by a function that lands each frame in its original code at the next hook, so that
// the rest of a long run goes at plain speed.
#pragma once

#include "recorder/recording_code.h"

namespace tagalong::recorder {

void leave_at_next_hook(const RecordingCode& recording);

}  // namespace tagalong::recorder
