// After a recording has stopped, its frames still run recording code, whose hooks have nothing left to do. The hook
// object in that code is replaced by a function that redirects each frame to its original code at the next hook, so
// that the rest of a long run has full speed.
//
// A recording of a generator ends at its yield, and no suspended frame should stay in recording code: in front of each
// yield the frame is redirected to its home, at the same yield. If that is impossible (another evaluation hook is
// installed, a traceback holds the frame), the frame stays and tries again at the next hook or yield.
#pragma once

#include <memory>

#include "recorder/code/recording_code.h"

namespace tagalong::recorder {

void leave_at_next_hook(const RecordingCode& recording);

// Constants that RecordingCode::make puts in front of yields. Null with an exception set.
Ref leaving_iterator();  // has always a next item; between next() and the redirect no evaluation hook is installed
Ref leaving_function();  // its argument is the key of a hook
Ref home_constant(HomeRef home);

// Constants that RecordingCode::make puts into all recording code, for frames that leave it. Null with an exception
// set.
Ref decoded_constant(std::shared_ptr<const DecodedCode> decoded);

}  // namespace tagalong::recorder
