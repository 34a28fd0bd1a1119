// Runs code that multiplies by reciprocals instead of dividing by scalars, where that gives the exact quotients, and
// code with divisions otherwise.
#include <algorithm>
#include <cstring>

#include "replay/arrays/simd/division.h"
#include "replay/arrays/simd/lanes.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

#if defined(__x86_64__)

namespace {

// Bits of MXCSR.
constexpr unsigned kReported = 0x1D;    // flags that NumPy reports
constexpr unsigned kInexact = 0x22;     // the other two flags: denormal operand, inexact result
constexpr unsigned kOrdinary = 0x1F80;  // no traps, rounding to nearest, subnormal numbers not flushed

}  // namespace

// A flag that is set afterwards may come from an intermediate result; then a quotient may be wrong.
bool VectorCode::run_with_reciprocals(char* const* data, Extent count) const {
  if (count < kLeastQuotients) {
    return code_.run(data, count, 1, nullptr) == 0;
  }
  const unsigned control = _mm_getcsr();
  const auto has_exact_reciprocal = [&](Slot slot) {
    double divisor;
    std::memcpy(&divisor, data[slot], sizeof(divisor));
    return has_quick_quotients(divisor);
  };
  if ((control & ~kInexact) != kOrdinary || !std::ranges::all_of(divisors_, has_exact_reciprocal)) {
    return code_.run(data, count, 1, nullptr) == 0;
  }
  const bool is_done = reciprocal_code_.run(data, count, 1, nullptr) == 0;
  if ((_mm_getcsr() & kReported) == 0) [[likely]] {
    quotient_tally.computed.add();
    return is_done;
  }
  quotient_tally.left.add();
  _mm_setcsr(control);
  return code_.run(data, count, 1, nullptr) == 0;
}

#else

bool VectorCode::run_with_reciprocals(char* const* data, Extent count) const {
  return code_.run(data, count, 1, nullptr) == 0;
}

#endif

}  // namespace tagalong::array
