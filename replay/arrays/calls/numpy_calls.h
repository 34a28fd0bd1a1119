// Calls of NumPy's functions and of methods of arrays without frames: numpy_calls.def lists them. They are recognised
// by identity with the objects that NumPy has defined, so a function that the program has replaced is called as usual.
//
//   if (PyObject* result = call_directly(slots, count, names)) { ... }  // otherwise: the general call
#pragma once

#include <Python.h>

#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

extern LoopTally direct_calls;

// Executes a call with the layout of CPython's stack: null and the callable, or a method and `self`; then the
// arguments. `names` are the names of the last arguments, or null. Returns a new reference. Null: not such a function,
// or operands that it does not handle here, or the call would raise or report something. Then the program can notice
// nothing of it and no exception is set. Runs no code of the program.
[[nodiscard]] PyObject* call_directly(PyObject* const* slots, int count, PyObject* names);

}  // namespace tagalong::array
