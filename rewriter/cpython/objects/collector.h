// Whether the garbage collector may run in one of the next allocations. If it may, code that looks like plain C code
// can run finalisers and callbacks, which can inspect frames.
#pragma once

#include <Python.h>

namespace tagalong::cpython {

// `objects`: number of containers that will be allocated.
[[nodiscard]] bool may_collect(PyThreadState* thread, int objects);

// Enables or disables automatic collection; returns the previous setting. The caller must not release the GIL while it
// keeps the collector disabled.
bool set_collecting(PyThreadState* thread, bool collects);

}  // namespace tagalong::cpython
