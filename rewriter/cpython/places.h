// Addresses of a frame's current location, for machine code that updates it directly (frames.h: set_location).
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Address of the pointer to the current instruction, and the address of the frame's code unit 0.
inline const std::uint16_t** shown_place(Frame* frame) { return version::place_field(frame); }
inline const std::uint16_t* first_place(Frame* frame) { return units_of(code_of(frame)); }

}  // namespace tagalong::cpython
