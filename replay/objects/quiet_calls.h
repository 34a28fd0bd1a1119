// Calls of C code that runs nobody's code, makes nothing that the collector counts, and looks at no frame: for exact
// arguments of some types. Whoever makes one of these need not show the frames before; an exception that it raises is
// shown where it is raised.
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::replay {

// What a call site has learned: a callable that is kept for good, and how it is quiet.
struct CalledBefore {
  PyObject* callable = nullptr;
  std::uint8_t kind = 0;
};

// The callable's two slots as on the stack, then the arguments, none by keyword. Never has an exception set.
[[nodiscard]] bool is_quiet_call(PyObject* const* slots, int count, CalledBefore* before);

}  // namespace tagalong::replay
