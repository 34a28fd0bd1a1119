// Whether the garbage collector may run in one of the next allocations: then what looks like plain C code may end in
// finalisers and callbacks, who look at frames.
#pragma once

#include <Python.h>

namespace tagalong::cpython {

// `objects`: how many containers are about to be made.
[[nodiscard]] bool may_collect(PyThreadState* thread, int objects);

// Whether it comes by itself, from then on; whether it did before. Who holds it back gives up the GIL to nobody
// meanwhile.
bool set_collecting(PyThreadState* thread, bool collects);

}  // namespace tagalong::cpython
