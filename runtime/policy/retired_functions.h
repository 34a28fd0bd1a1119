// Functions whose code is retired and that have their original code again. Each keeps its replay code alive, and with
// it the record for explain() and stats(), until the function dies or is traced again.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// The function, which has `replay`, gets `original` instead. False: there is no memory, and nothing has changed.
bool install_original_code(PyFunctionObject* function, PyCodeObject* replay, PyCodeObject* original);
// All functions that have had this replay code get it back, unless the program has given them other code meanwhile.
void install_replay_code(PyCodeObject* replay, const PyCodeObject* original);
// The function is traced again or untraced: its replay code need not be kept.
void forget_retired(PyFunctionObject* function);

}  // namespace tagalong::runtime
