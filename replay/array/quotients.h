// Quotients of an array of doubles by one number, without division: by Markstein's theorem (Computation of elementary
// functions on the IBM RISC System/6000 processor, 1990) one fused step from the remainder of an approximation that is
// right but for its last bit gives the correctly rounded quotient. That is half of the time of NumPy's loop, with its
// bits and floating point flags.
//
//   kernel.loop = quotient_loop(kernel.loop);   // of `divide`, from doubles to doubles
#pragma once

#include "replay/array/numpy_abi.h"
#include "replay/array/tally.h"

namespace tagalong::array {

// Blocks; those with numbers that are very small, very large or none were divided, in part.
extern LoopTally quotient_tally;

// Whether the theorem holds for this divisor, nothing on the way overflows or underflows that does not in the quotient,
// and zeros and NaNs have the sign of the dividend.
[[nodiscard]] bool has_quick_quotients(double divisor);

// A loop to be called with the same context and auxdata instead of NumPy's `loop`; that one itself on machines without
// the instructions.
[[nodiscard]] StridedLoop quotient_loop(StridedLoop loop);

}  // namespace tagalong::array
