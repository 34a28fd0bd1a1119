// Quotients of an array of doubles by one number, without division, with NumPy's bits and floating point flags:
// products with the reciprocal as two doubles, which are rounded right for nearly all divisors (Brisebarre, Muller,
// Raina: Accelerating correctly rounded floating-point division when the divisor is known in advance, IEEE Transactions
// on Computers 53(8), 2004; the proof is in the source). For the others one fused step from the remainder follows
// (Markstein: Computation of elementary functions on the IBM RISC System/6000 processor, 1990). That is a quarter, or
// half, of the time of NumPy's loop.
//
//   kernel.loop = quotient_loop(kernel.loop);   // of `divide`, from doubles to doubles
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Blocks; those with numbers that are very small, very large or none were divided, in part.
extern LoopTally quotient_tally;
extern Tally quotients_in_two;  // those without the fused step

// Whether Markstein's theorem holds for this divisor, nothing on the way overflows or underflows that does not in the
// quotient, and zeros and NaNs have the sign of the dividend.
[[nodiscard]] bool has_quick_quotients(double divisor);

// A loop to be called with the same context and auxdata instead of NumPy's `loop`; that one itself on machines without
// the instructions.
[[nodiscard]] StridedLoop quotient_loop(StridedLoop loop);

}  // namespace tagalong::array
