// Calls of C code that runs nobody's code, makes nothing that the collector counts, and looks at no frame: for exact
// arguments of some types. Whoever makes one of these need not show the frames before; an exception that it raises is
// shown where it is raised.
#pragma once

#include <Python.h>

namespace tagalong::replay {

// The callable's two slots as on the stack, then the arguments, none by keyword. Never has an exception set.
[[nodiscard]] bool is_quiet_call(PyObject* const* slots, int count);

}  // namespace tagalong::replay
