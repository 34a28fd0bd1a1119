// np.bincount of exact arrays, without the Python code in front of NumPy's and with several counters for each label, so
// that one count does not wait for the last one. Weights are added in the order of the elements, as NumPy adds them.
//
//   if (PyObject* bins = count_bins(slots, count, names)) { ... }  // otherwise: the general call
#pragma once

#include <Python.h>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

extern LoopTally histogram_tally;  // calls

// NumPy's function. Null before NumPy has been met.
[[nodiscard]] PyObject* bincount();

// A call as it is on the stack: null, the callable, the arguments; `names` of the last ones, or null. New reference.
// Null: nothing has happened, because it calls something else, has other operands, or would raise. Runs nobody's code
// and has no exception set.
[[nodiscard]] PyObject* count_bins(PyObject* const* slots, int count, PyObject* names);
// The same of operands: labels, weights or null, and how many bins there are at least.
[[nodiscard]] PyObject* count_bins(const Numpy& np, PyObject* labels, PyObject* weights, Extent least);

inline constexpr Extent kMostBins = 1 << 16;  // larger results are new memory that NumPy has the system clear

}  // namespace tagalong::array
