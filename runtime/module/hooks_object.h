// The callable that tagalong.rewriter.instrument() puts into code: it takes a hook's key apart and calls one of two
// Python callables with the instruction's index. It owns both (either may be None) and counts its own calls. Being
// called neither makes a frame nor uses up recursion depth nor shows up in a profile function, as a hook must not.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong {

// The type, as a new Python class `Hooks(before=None, after=None)` with the attribute `calls`. Throws PythonError.
Ref make_hooks_type();

}  // namespace tagalong
