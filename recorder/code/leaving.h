// After a recording has stopped, frames still run its recording code, with hooks that have nothing to do. The hook
// object in that code is replaced by a function that lands each frame in its original code at the next hook, so that
// the rest of a long run goes at plain speed.
//
// A recording of a generator ends at its yield, and no suspended frame is to stay in recording code: in front of each
// yield the frame lands in its home, at the same yield. Where that cannot be (another evaluation hook is installed, a
// traceback holds the frame), it stays, and tries again at the next hook or yield.
#pragma once

#include <memory>

#include "recorder/code/recording_code.h"

namespace tagalong::recorder {

void leave_at_next_hook(const RecordingCode& recording);

// What RecordingCode::make puts in front of yields. Null with an exception set.
Ref departure_iterator();  // has always an item: from there to the landing no evaluation hook is installed
Ref leaving_function();    // takes the key of a hook
Ref home_constant(HomeRef home);

// What it puts into each recording code, for frames that leave it. Null with an exception set.
Ref decoded_constant(std::shared_ptr<const DecodedCode> decoded);

}  // namespace tagalong::recorder
