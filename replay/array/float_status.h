// The floating point exception flags of this thread, read and cleared at the price of a few instructions. NumPy clears
// them before a loop and reads them after it; libm's functions for that cost more than a whole small loop. On x86-64
// both units have flags (extended precision lives in the old one), in the same bit positions.
//
//   clear_float_status(); loop(...); if (float_status_raised()) errors = take_float_status();
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "replay/array/numpy_abi.h"

namespace tagalong::array {

[[nodiscard]] inline bool float_status_raised() {
#if defined(__x86_64__)
  constexpr unsigned kReported = 0x1D;  // invalid, divide by zero, overflow, underflow; not denormal, not inexact
  unsigned short x87 = 0;
  asm volatile("fnstsw %0" : "=am"(x87));
  return ((_mm_getcsr() | x87) & kReported) != 0;
#else
  return std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW) != 0;
#endif
}

inline void clear_float_status() {
  if (float_status_raised()) {
    std::feclearexcept(FE_ALL_EXCEPT);
  }
}

// NumPy's bits for what was raised, which is cleared.
[[nodiscard]] inline int take_float_status() {
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  std::feclearexcept(FE_ALL_EXCEPT);
  return ((raised & FE_DIVBYZERO) != 0 ? kDivideByZero : 0) | ((raised & FE_OVERFLOW) != 0 ? kOverflow : 0) |
         ((raised & FE_UNDERFLOW) != 0 ? kUnderflow : 0) | ((raised & FE_INVALID) != 0 ? kInvalid : 0);
}

}  // namespace tagalong::array
