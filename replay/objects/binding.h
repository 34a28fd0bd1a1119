// How the interpreter's CALL releases the arguments of a Python function that does not accept them.
#pragma once

#include <Python.h>

#include <vector>

namespace tagalong::replay {

// The arguments in the order in which the call releases them: `positional` ones by position, then one for each name in
// the tuple `keywords`, which may be null. Empty: the function accepts them, or there are none. Runs no user code.
std::vector<int> refused_arguments(const PyFunctionObject* function, int positional, PyObject* keywords);

}  // namespace tagalong::replay
