// Tools of sys.monitoring see the code objects that programs know: a tool's functions are called with these and their
// offsets, not at all for instructions that we have added, and what a tool asks of a code object it gets of the code
// that runs in its place.
#pragma once

#include <Python.h>

#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// Does nothing in versions without sys.monitoring. Throws PythonError, InternalError.
void show_originals_to_tools();

// Gives the code objects that run in place of this one.
using ReplacementsOf = std::vector<CodeRef> (*)(PyCodeObject* original);
void set_replacements_of(ReplacementsOf replacements_of);

}  // namespace tagalong::cpython
