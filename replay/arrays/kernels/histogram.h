// np.bincount of exact arrays, without NumPy's Python code. Several counters for each label shorten the chain of
// dependent increments. Weights are added in the order of the elements, as in NumPy.
//
//   if (PyObject* bins = count_bins(np, arguments, count, names)) { ... }  // otherwise: the general call
#pragma once

#include <Python.h>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

extern LoopTally histogram_tally;  // calls

// NumPy's bincount. Null before the program has imported NumPy.
[[nodiscard]] PyObject* bincount();

// Executes a call with these arguments; `names` are the names of the last arguments, or null. Returns a new reference.
// Null: unsupported operands, or the call would raise; then nothing has happened and no exception is set. Runs no user
// code.
[[nodiscard]] PyObject* count_bins(const Numpy& np, PyObject* const* arguments, int count, PyObject* names);
// The same for operands: labels, weights or null, and the minimal number of bins.
[[nodiscard]] PyObject* count_bins(const Numpy& np, PyObject* labels, PyObject* weights, Extent least);

inline constexpr Extent kMostBins = 1 << 16;  // larger results need new pages, which the kernel clears anyway

}  // namespace tagalong::array
