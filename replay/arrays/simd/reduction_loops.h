// Sums and extremes of doubles in one row of memory, with the bits of NumPy's reduce loops but several times as fast.
//
//   kernel.loop = sum_loop(kernel.loop, kernel.context, kernel.auxdata);   // or what it was
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Calls of them.
extern Tally own_reductions;

// To be called with the same context and auxdata instead of NumPy's `loop` of `add`; that one itself where the machine
// has no such instructions, or where NumPy sums in another order, which is tried out. Needs the GIL.
[[nodiscard]] StridedLoop sum_loop(StridedLoop loop, MethodContext* context, void* auxdata);

// Instead of that of `maximum` or `minimum`, for those who look at NaNs and zeros themselves: it may give another NaN,
// and the zero of the other sign.
[[nodiscard]] StridedLoop extreme_loop(StridedLoop loop, bool of_largest);

}  // namespace tagalong::array
