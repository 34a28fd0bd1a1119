// Functions that programs make by calling the type of functions.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// Registers `code_of_new`, which chooses the code that such a function runs, given the code that it was made with. It
// is called before the program sees the function. It sets no exception.
void watch_new_functions(CodeRef (*code_of_new)(PyCodeObject* code));

}  // namespace tagalong::cpython
