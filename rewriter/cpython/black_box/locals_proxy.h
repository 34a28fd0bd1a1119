// Programs may assign to the variables of a running frame through frame.f_locals: from CPython 3.13 on, it writes into
// the frame's slots.
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Called behind an assignment to the slot of a frame, which may run already or be suspended.
using WrittenLocal = void (*)(const Frame* frame, int slot);

// Does nothing in versions where programs cannot do so. Throws InternalError.
void watch_written_locals(WrittenLocal note);

}  // namespace tagalong::cpython
