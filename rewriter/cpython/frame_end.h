// A notification when a function's frame ends, at no cost to other frames. A function's frame has no mapping of its
// variables until a program asks for one. Our mark takes the place of that mapping and dies with the frame. The mark is
// laid out as a dict with another type. When it is used as a mapping it becomes a real dict and no longer marks the
// frame, so no program sees it.
//
//   if (mark_end(frame)) { ... end_listener is called when the frame has ended, or when the mark has become a dict ...
//   }
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Called with the mark's address, which may only be compared with what mark_end returned; must not run user code.
// `is_end`: the frame has ended; otherwise the program has asked for the frame's variables.
using EndListener = void (*)(const void* mark, bool is_end);

// A process has at most one listener.
void set_end_listener(EndListener listener);
// Null, without an exception: the frame cannot have a mark, because its variables are or may be in a mapping, or memory
// has run out.
const void* mark_end(Frame* frame);

}  // namespace tagalong::cpython
