// What the interpreter's CALL does with the arguments of a Python function that does not take them.
#pragma once

#include <Python.h>

#include <vector>

namespace tagalong::replay {

// The arguments (`positional` of them by place, then one for each name of the tuple `keywords`, which may be null) in
// the order in which the call gives them up. Empty: the function takes them, or there are none. Runs nobody's code.
std::vector<int> refused_arguments(const PyFunctionObject* function, int positional, PyObject* keywords);

}  // namespace tagalong::replay
