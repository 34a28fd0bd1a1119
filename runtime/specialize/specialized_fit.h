// Which code can specialise a function: code with the same parameters, cells and free variables.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// The code object or callable to use for `code`. Of a Python function its code is used; it must have the same defaults.
// Code gets the function's name and first line. Throws PythonError.
Ref fitted(PyFunctionObject* function, PyObject* code);
// Throws PythonError (ValueError) if the specialised code does not fit.
void require_fit(const PyCodeObject* own, const PyCodeObject* specialised);

}  // namespace tagalong::runtime
