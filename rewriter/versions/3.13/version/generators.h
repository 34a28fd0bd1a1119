// Generators, coroutines and asynchronous generators of CPython 3.13.
#pragma once

#include <Python.h>

#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include <internal/pycore_genobject.h>
#include <internal/pycore_pyerrors.h>
#undef Py_BUILD_CORE

#include "version/frames.h"

namespace tagalong::version {

// The code of a generator, a coroutine or an asynchronous generator, borrowed.
inline PyCodeObject* code_of_generator(PyGenObject* generator) {
  PyCodeObject* code = PyGen_GetCode(generator);
  Py_DECREF(code);
  return code;
}

// A suspended frame is at the instruction that has suspended it, or so many code units behind it.
inline constexpr int kBehindYield = 1;

inline bool is_suspended(const PyGenObject* generator) { return FRAME_STATE_SUSPENDED(generator->gi_frame_state); }
// The state of a generator whose frame is suspended at its current place: the RESUME behind a yield tells whether it
// delegates.
inline PyFrameState suspended_state(const Frame* frame) {
  constexpr unsigned kKind = 3;       // the argument's bits that say behind what the frame goes on
  constexpr unsigned kDelegates = 2;  // a yield from, and 3: an await
  const CodeUnit resume = *place_of(frame);
  const bool delegates = rewriter::info(rewriter::opcode_in(resume)).base == rewriter::op::kRESUME &&
                         (rewriter::argument_in(resume) & kKind) >= kDelegates;
  return delegates ? FRAME_SUSPENDED_YIELD_FROM : FRAME_SUSPENDED;
}

// Whether the C code that resumes a generator, and not its bytecode, makes a RuntimeError of a StopIteration.
inline constexpr bool kResumingConvertsStop = false;

}  // namespace tagalong::version
