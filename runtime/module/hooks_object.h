// The callable that tagalong.rewriter.instrument() puts into code: it decodes a hook's key and calls one of two Python
// callables with the instruction's index. It owns both (either may be None) and counts its own calls. As a hook, it
// makes no frame, takes no recursion depth, and is invisible to profile functions.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong {

// The type, as a new Python class `Hooks(before=None, after=None)` with the attribute `calls`. Throws PythonError.
Ref make_hooks_type();

}  // namespace tagalong
