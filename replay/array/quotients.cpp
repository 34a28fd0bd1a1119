#include "replay/array/quotients.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "replay/array/lanes.h"

namespace tagalong::array {

LoopTally quotient_tally;

// Not negative. The theorem's proof excludes a significand of ones.
bool has_quick_quotients(double divisor) {
  constexpr double kSmallest = 0x1p-500;
  constexpr double kLargest = 0x1p500;
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(divisor);
  return std::isgreaterequal(divisor, kSmallest) && std::islessequal(divisor, kLargest) &&
         (bits & kFraction) != kFraction;
}

#if defined(__x86_64__)

namespace {

constexpr Extent kLeast = 32;  // elements
constexpr Extent kBlock = 1024;
constexpr auto kItem = static_cast<Extent>(sizeof(double));

constexpr unsigned kRaised = 0x3F;      // of the control register: the flags
constexpr unsigned kReported = 0x1D;    // without denormal and inexact
constexpr unsigned kOrdinary = 0x1F80;  // nothing traps, to the nearest, subnormal numbers as they are

StridedLoop numpys = nullptr;

struct Divisor {
  double value;
  double high;  // the reciprocal, correctly rounded
  double low;   // what is missing there
};

// The approximation is x times the reciprocal of two doubles, rounded once but for what is far below its last bit. Its
// remainder is exact, unless a flag is raised. Of zeros and NaNs the sign is taken from the dividend.
[[gnu::noinline]] TAGALONG_AVX512 void multiply(const double* from, const Divisor& divisor, Extent count, double* to) {
  const __m512d value = _mm512_set1_pd(divisor.value);
  const __m512d high = _mm512_set1_pd(divisor.high);
  const __m512d low = _mm512_set1_pd(divisor.low);
  const __m512i sign = _mm512_set1_epi64(INT64_MIN);
  constexpr int kSelect = 0xCA;  // bit by bit: the first ? the second : the third
  const auto quotient = [&](__m512d x) TAGALONG_AVX512 {
    const __m512d near = _mm512_fmadd_pd(x, high, _mm512_mul_pd(x, low));
    const __m512d remainder = _mm512_fnmadd_pd(near, value, x);
    const __m512d found = _mm512_fmadd_pd(remainder, high, near);
    return _mm512_castsi512_pd(
        _mm512_ternarylogic_epi64(sign, _mm512_castpd_si512(x), _mm512_castpd_si512(found), kSelect));
  };
  Extent i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const __m512d one = quotient(_mm512_loadu_pd(from + i));
    const __m512d two = quotient(_mm512_loadu_pd(from + i + kLanes));
    _mm512_storeu_pd(to + i, one);
    _mm512_storeu_pd(to + i + kLanes, two);
  }
  for (; i < count; i += kLanes) {
    const __mmask8 mask = mask_of(count - i);
    _mm512_mask_storeu_pd(to + i, mask, quotient(_mm512_maskz_loadu_pd(mask, from + i)));
  }
}

[[gnu::noinline]] TAGALONG_AVX512 void divide(const double* from, double divisor, Extent count, double* to) {
  const __m512d value = _mm512_set1_pd(divisor);
  for (Extent i = 0; i < count; i += kLanes) {
    const __mmask8 mask = mask_of(count - i);
    _mm512_mask_storeu_pd(to + i, mask, _mm512_maskz_div_pd(mask, _mm512_maskz_loadu_pd(mask, from + i), value));
  }
}

[[gnu::noinline]] TAGALONG_AVX512 Divisor prepared(double value) {
  const double high = 1.0 / value;
  return {value, high, high * __builtin_fma(-high, value, 1.0)};
}

int quotients(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides, void* aux) {
  const Extent count = dims[0];
  const unsigned control = _mm_getcsr();
  if (count < kLeast || strides[0] != kItem || strides[1] != 0 || strides[2] != kItem ||
      (control & ~kRaised) != kOrdinary) {
    return numpys(context, data, dims, strides, aux);
  }
  double value;
  std::memcpy(&value, data[1], sizeof(value));
  if (!has_quick_quotients(value)) {
    return numpys(context, data, dims, strides, aux);
  }
  const Divisor divisor = prepared(value);
  const auto* from = reinterpret_cast<const double*>(data[0]);
  auto* to = reinterpret_cast<double*>(data[2]);
  alignas(64) std::array<double, kBlock> kept;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  unsigned raised = 0;
  _mm_setcsr(kOrdinary);
  for (Extent done = 0; done < count; done += kBlock) {
    const Extent block = std::min(kBlock, count - done);
    const double* dividends = from + done;
    if (data[0] == data[2]) {  // they may be wanted again
      std::memcpy(kept.data(), dividends, static_cast<std::size_t>(block * kItem));
      dividends = kept.data();
    }
    multiply(dividends, divisor, block, to + done);
    const bool is_left = (_mm_getcsr() & kReported) != 0;
    (is_left ? quotient_tally.left : quotient_tally.computed).add();
    if (is_left) [[unlikely]] {
      _mm_setcsr(kOrdinary);
      divide(dividends, value, block, to + done);
      raised |= _mm_getcsr() & kRaised;
      _mm_setcsr(kOrdinary);
    }
  }
  _mm_setcsr(control | raised);
  return 0;
}

}  // namespace

StridedLoop quotient_loop(StridedLoop loop) {
  if (!has_avx512() || (numpys != nullptr && numpys != loop)) {
    return loop;
  }
  numpys = loop;
  return quotients;
}

#else

StridedLoop quotient_loop(StridedLoop loop) { return loop; }

#endif

}  // namespace tagalong::array
