// Calls of NumPy's functions and of methods of arrays without frames: numpy_calls.def lists them. They are recognised
// by identity with the objects that NumPy has defined, so a function that the program has replaced is called as usual.
//
//   const NumpyCall* row = find_numpy_call(slots);
//   PyObject* result = row == nullptr ? nullptr : call_directly(*row, slots, count, names);
//   if (result == nullptr) { ... }  // the general call
#pragma once

#include <Python.h>

#include <cstdint>

#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

extern LoopTally direct_calls;

struct NumpyCall;

// What the call reads, where a fusion group may make it in front of its operations.
enum class CallReads : std::uint8_t { kShape, kElements, kApart };

// The row of the function that a call calls, if it is in the table. `slots` have the layout of CPython's stack: null
// and the callable, or a method and `self`; then the arguments. Null: it is another function, or an exception is set.
[[nodiscard]] const NumpyCall* find_numpy_call(PyObject* const* slots);

[[nodiscard]] CallReads reads_of(const NumpyCall& row);

// Executes such a call. `names` are the names of the last arguments, or null. Returns a new reference. Null: operands
// that it does not handle here, or the call would raise or report something. Then the program can notice nothing of it
// and no exception is set. Runs no code of the program.
[[nodiscard]] PyObject* call_directly(const NumpyCall& row, PyObject* const* slots, int count, PyObject* names);

}  // namespace tagalong::array
