// Calls of C code that run no user code, make no objects that the collector tracks, and inspect no frames: for exact
// arguments of certain types. Such a call can be made without showing the frames first; an exception that it raises is
// shown at its instruction.
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::replay {

// What a call site has learned: a callable that is kept forever, and its row of the table.
struct CalledBefore {
  PyObject* callable = nullptr;
  std::uint8_t kind = 0;
};

// The callable's two slots as on the stack, then the arguments, without keywords. Never sets an exception.
[[nodiscard]] bool call_runs_no_user_code(PyObject* const* slots, int count, CalledBefore* before);

}  // namespace tagalong::replay
