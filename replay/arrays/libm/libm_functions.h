// np.sin and np.cos of float64 are libm's functions, one element after another, and where NumPy has no other loops for
// the processor so are np.arcsin, np.exp and np.log. Here are loops for four or eight elements at once with the same
// bits: they take the steps of glibc's functions. What is no ordinary number is left to NumPy's own loop.
//
//   kernel.loop = glibc_loop(UfuncName::kSin, kernel.loop, kernel.context, kernel.auxdata);   // or what it was
#pragma once

#include <string_view>
#include <vector>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Elements; what is left of a block goes through NumPy's loop.
extern LoopTally glibc_tally;

// A loop to be called with the same context and auxdata instead of NumPy's `loop` for this ufunc from float64
// to float64; `loop` itself where there is none, or where NumPy's is not libm's function. Needs the GIL.
[[nodiscard]] StridedLoop glibc_loop(UfuncName ufunc, StridedLoop loop, MethodContext* context, void* auxdata);

// Those that are used in place of NumPy's so far.
[[nodiscard]] std::vector<std::string_view> glibc_functions();

}  // namespace tagalong::array
