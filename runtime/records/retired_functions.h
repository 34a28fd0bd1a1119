// Functions whose replay code has been retired and that have their original code again. They own that replay code, and
// with it what is known of them (`explain`, `stats`), as if it were still theirs; it ends with them.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// The function, which has `replay`, gets `original` instead. What its code was is freed where somebody else lets go of
// it or when the function dies. False: there is no memory, everything is as before.
bool put_back(PyFunctionObject* function, PyCodeObject* replay, PyCodeObject* original);
// Frees the code of functions that have died.
void free_retired();
// It is traced again, or nobody wants to know any more.
void forget_retired(PyFunctionObject* function);
// The functions that were put back have their replay code again.
void take_back(PyCodeObject* replay, const PyCodeObject* original);

}  // namespace tagalong::runtime
