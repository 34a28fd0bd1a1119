// Copies of functions that run other code.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// A function like `function` with this code; null with an exception set.
Ref function_with_code(PyObject* function, PyCodeObject* code);

}  // namespace tagalong::runtime
