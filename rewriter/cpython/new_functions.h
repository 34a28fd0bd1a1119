// Functions that programs make by calling the type of functions.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// From now on `code_of_new` is asked what code such a function is to run, given what it was made with: before anybody
// sees the function. It sets no exception.
void watch_new_functions(CodeRef (*code_of_new)(PyCodeObject* code));

}  // namespace tagalong::cpython
