// Vectorised reduce loops for sums and extremes of contiguous doubles, with the bits of NumPy's loops.
//
//   kernel.loop = sum_loop(kernel.loop, kernel.context, kernel.auxdata);
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Calls of these loops.
extern Tally own_reductions;

// Returns a loop to call in place of NumPy's `loop` of `add`, with the same context and auxdata. Returns `loop` itself
// where the processor lacks the instructions or a test shows that NumPy sums in another order. Needs the GIL.
[[nodiscard]] StridedLoop sum_loop(StridedLoop loop, MethodContext* context, void* auxdata);

// The same for `maximum` or `minimum`. The result may be another NaN, or the zero of the other sign, so the caller has
// to check for NaNs and zeros.
[[nodiscard]] StridedLoop extreme_loop(StridedLoop loop, bool of_largest);

}  // namespace tagalong::array
