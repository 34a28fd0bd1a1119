// Generators, coroutines and asynchronous generators of CPython 3.11.
#pragma once

#include <Python.h>

#include "version/frames.h"

namespace tagalong::version {

// The code of a generator, a coroutine or an asynchronous generator, borrowed.
inline PyCodeObject* code_of_generator(PyGenObject* generator) { return generator->gi_code; }

// A suspended frame is at the instruction that has suspended it, or so many code units behind it.
inline constexpr int kBehindYield = 0;

inline bool is_suspended(const PyGenObject* generator) { return generator->gi_frame_state == FRAME_SUSPENDED; }
// The state of a generator whose frame is suspended at its current place.
inline PyFrameState suspended_state(const Frame* /*frame*/) { return FRAME_SUSPENDED; }

// Whether the C code that resumes a generator, and not its bytecode, makes a RuntimeError of a StopIteration.
inline constexpr bool kResumingConvertsStop = true;

}  // namespace tagalong::version
