// Machine code that multiplies instead of dividing by numbers: where it gives the quotients, and what is done
// elsewhere.
#include <algorithm>
#include <cstring>

#include "replay/arrays/simd/division.h"
#include "replay/arrays/simd/lanes.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

#if defined(__x86_64__)

namespace {

constexpr unsigned kReported = 0x1D;    // of the control register: flags but those of denormal and inexact
constexpr unsigned kInexact = 0x22;     // these
constexpr unsigned kOrdinary = 0x1F80;  // nothing traps, to the nearest, subnormal numbers as they are

}  // namespace

// A flag that is up afterwards may have been raised on the way to a quotient, which need not be right then.
bool VectorCode::run_with_quotients(char* const* data, Extent count) const {
  if (count < kLeastQuotients) {
    return plain_.run(data, count, 1, nullptr) == 0;
  }
  const unsigned control = _mm_getcsr();
  const auto is_suitable = [&](std::uint8_t slot) {
    double divisor;
    std::memcpy(&divisor, data[slot], sizeof(divisor));
    return has_quick_quotients(divisor);
  };
  if ((control & ~kInexact) != kOrdinary || !std::ranges::all_of(divisors_, is_suitable)) {
    return plain_.run(data, count, 1, nullptr) == 0;
  }
  const bool is_done = multiplying_.run(data, count, 1, nullptr) == 0;
  if ((_mm_getcsr() & kReported) == 0) [[likely]] {
    quotient_tally.computed.add();
    return is_done;
  }
  quotient_tally.left.add();
  _mm_setcsr(control);
  return plain_.run(data, count, 1, nullptr) == 0;
}

#else

bool VectorCode::run_with_quotients(char* const* data, Extent count) const {
  return plain_.run(data, count, 1, nullptr) == 0;
}

#endif

}  // namespace tagalong::array
