// Integer objects that no program can meet.
#pragma once

#include "rewriter/interp/ref.h"

namespace tagalong::interp {

// An int of this value, -2**30 < value < 2**30, that is an object of its own also where CPython keeps one for
// everybody. Throws PythonError.
Ref uncommon_int(long value);

}  // namespace tagalong::interp
