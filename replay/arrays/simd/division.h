// Division of an array of doubles by one number, with NumPy's bits and floating point flags, but without divisions: it
// multiplies by the reciprocal as a sum of two doubles. These products are correctly rounded for nearly all divisors
// (Brisebarre, Muller, Raina: Accelerating correctly rounded floating-point division when the divisor is known in
// advance, IEEE Transactions on Computers 53(8), 2004; the proof is in the source). For other divisors one more FMA
// step corrects the quotient by its remainder (Markstein: Computation of elementary functions on the IBM RISC
// System/6000 processor, 1990).
//
//   kernel.loop = quotient_loop(kernel.loop);   // the loop of `divide`, from doubles to doubles
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Blocks. In those counted as left, some elements were very small, very large or NaN and were divided.
extern LoopTally quotient_tally;
extern Tally quotients_in_two;  // blocks without the correction step

// Whether quotients by this divisor can be computed by multiplication: Markstein's theorem holds, an intermediate
// result overflows or underflows only where the quotient does, and zeros and NaNs get the sign of the dividend.
[[nodiscard]] bool has_quick_quotients(double divisor);

// Returns a loop to call in place of NumPy's `loop`, with the same context and auxdata; `loop` itself on processors
// without the instructions.
[[nodiscard]] StridedLoop quotient_loop(StridedLoop loop);

}  // namespace tagalong::array
