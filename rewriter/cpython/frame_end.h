// Being told when a frame of a function ends, at no cost to other frames. A function's frame keeps no mapping of its
// variables until a program asks for one. The mark lies in that place and dies with the frame. It is a dict but for
// its type, and becomes one, without a mark, when it is used as a mapping, so no program sees it.
//
//   if (mark_end(frame)) { ... end_listener is called when the frame has ended, or when the mark is given up ... }
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Called with the mark's address, which is compared with what mark_end returned and not used otherwise; must run no
// code of the program's. `is_end`: the frame has ended; otherwise the program has asked for the frame's variables.
using EndListener = void (*)(const void* mark, bool is_end);

// At most one listener for the process.
void set_end_listener(EndListener listener);
// Null, with no exception: the frame cannot have a mark (its variables are or may be in a mapping; there is no memory).
const void* mark_end(Frame* frame);

}  // namespace tagalong::cpython
