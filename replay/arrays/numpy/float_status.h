// The floating point exception flags of this thread, read and cleared by a few instructions. NumPy clears them before a
// loop and reads them after it; libm's functions for that take longer than a small loop. On x86-64 both the vector unit
// and the x87 unit have flags, in the same bit positions; extended precision uses the x87 unit.
//
//   forget_float_status(units);
//   loop(...);
//   errors |= collect_float_status(units);
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Units whose flags a loop can raise. On x86-64 extended precision and libm's explicit raising of overflow use the x87
// unit; plain arithmetic of float and double does not. Reading one unit less saves a good part of a small operation.
enum class FloatUnits : std::uint8_t { kNone, kVector, kAll };
static_assert(FloatUnits::kNone < FloatUnits::kVector &&
              FloatUnits::kVector < FloatUnits::kAll);  // the larger includes

namespace detail {
inline constexpr unsigned kReported = 0x1D;  // invalid, divide by zero, overflow, underflow; not denormal, not inexact
}

[[nodiscard]] inline bool float_status_raised(FloatUnits units) {
#if defined(__x86_64__)
  unsigned status = _mm_getcsr();
  if (units == FloatUnits::kAll) {
    unsigned short x87 = 0;
    asm volatile("fnstsw %0" : "=am"(x87));
    status |= x87;
  }
  return (status & detail::kReported) != 0;
#else
  static_cast<void>(units);
  return std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW) != 0;
#endif
}

// Restores at its end the flags that were raised at its beginning, whatever is computed meanwhile.
class FloatStatusScope {
 public:
  FloatStatusScope() { std::fegetexceptflag(&flags_, FE_ALL_EXCEPT); }
  FloatStatusScope(const FloatStatusScope&) = delete;
  FloatStatusScope& operator=(const FloatStatusScope&) = delete;
  ~FloatStatusScope() { std::fesetexceptflag(&flags_, FE_ALL_EXCEPT); }

 private:
  std::fexcept_t flags_{};
};

inline void clear_float_status() { std::feclearexcept(FE_ALL_EXCEPT); }

// Returns NumPy's bits for what was raised in these units, and clears the flags of all units. The flags of the other
// unit may be left from earlier computations, so they are not reported.
[[nodiscard]] inline int take_float_status(FloatUnits units) {
#if defined(__x86_64__)
  const int raised = units == FloatUnits::kVector ? static_cast<int>(_mm_getcsr())
                                                  : std::fetestexcept(FE_ALL_EXCEPT);  // both units have the same bits
#else
  static_cast<void>(units);
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
#endif
  clear_float_status();
  return ((raised & FE_DIVBYZERO) != 0 ? kDivideByZero : 0) | ((raised & FE_OVERFLOW) != 0 ? kOverflow : 0) |
         ((raised & FE_UNDERFLOW) != 0 ? kUnderflow : 0) | ((raised & FE_INVALID) != 0 ? kInvalid : 0);
}

// Called before a loop that can raise flags in these units.
inline void forget_float_status(FloatUnits units) {
  if (units != FloatUnits::kNone && float_status_raised(units)) {
    clear_float_status();
  }
}
// Called after the loop; returns the bits as take_float_status() does.
[[nodiscard]] inline int collect_float_status(FloatUnits units) {
  if (units != FloatUnits::kNone && float_status_raised(units)) [[unlikely]] {
    return take_float_status(units);
  }
  return 0;
}

}  // namespace tagalong::array
