// Tools of sys.monitoring see the code objects that programs know: a tool's functions are called with these and their
// offsets, not at all for instructions that we have added, and what a tool asks of a code object it gets of the code
// that runs in its place.
#pragma once

#include <Python.h>

namespace tagalong::cpython {

// Does nothing in versions without sys.monitoring. Throws PythonError, InternalError.
void show_originals_to_tools();

// Gives the code that runs in place of this one, borrowed, or null.
using ReplacementOf = PyCodeObject* (*)(PyCodeObject* original);
void set_replacement_of(ReplacementOf replacement_of);

}  // namespace tagalong::cpython
