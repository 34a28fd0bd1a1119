// Vectorised loops with the bits of glibc's functions. NumPy calls libm for each element of np.sin and np.cos of
// float64, and of np.arcsin, np.exp, np.log and np.power where it has no loops for the processor. These loops take
// glibc's steps for four or eight elements at once. NumPy's loop computes elements that the steps do not cover.
//
//   kernel.loop = glibc_loop(UfuncName::kSin, kernel.loop, kernel.context, kernel.auxdata);
#pragma once

#include <string_view>
#include <vector>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Elements; those counted as left went through NumPy's loop.
extern LoopTally glibc_tally;

// Returns a loop to call in place of NumPy's `loop`, with the same context and auxdata, for this ufunc from float64 to
// float64, with the function's number of operands. Returns `loop` itself where there is none or where NumPy does not
// call libm. Needs the GIL.
[[nodiscard]] StridedLoop glibc_loop(UfuncName ufunc, StridedLoop loop, MethodContext* context, void* auxdata);

// Names of the functions that have replaced NumPy's loops so far.
[[nodiscard]] std::vector<std::string_view> glibc_functions();

}  // namespace tagalong::array
