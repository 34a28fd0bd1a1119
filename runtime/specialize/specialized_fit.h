// Which code may stand in the place of a function's: the same parameters, cells and free variables.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// The code object or callable that is to be used where `code` was given. A Python function stands for its code, and
// must have the function's defaults; code gets the function's name and first line. Throws PythonError.
Ref fitted(PyFunctionObject* function, PyObject* code);
// Throws PythonError (ValueError) if the specialised code does not fit.
void require_fit(const PyCodeObject* own, const PyCodeObject* specialised);

}  // namespace tagalong::runtime
