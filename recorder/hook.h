// The object that recording code calls: "the recorder" of the listings. It knows its session, or null once the session
// has finished (a frame may still run its recording code then).
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::recorder {

class Session;

Ref make_hook(Session* session);  // null with an exception set
void detach_hook(const Ref& hook);

}  // namespace tagalong::recorder
