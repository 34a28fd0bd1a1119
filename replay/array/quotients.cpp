#include "replay/array/quotients.h"

#include <algorithm>
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

// Between these dividends nothing on the way overflows or underflows, whatever the divisor is.
constexpr auto kSmallestDividend = std::bit_cast<std::int64_t>(0x1p-400);
constexpr auto kLargestDividend = std::bit_cast<std::int64_t>(0x1p500);

StridedLoop numpys = nullptr;

struct Divisor {
  double value;
  double high;  // the reciprocal, correctly rounded
  double low;   // what is missing there
};

// The approximation is x times the reciprocal of two doubles, rounded once but for what is far below its last bit. Its
// remainder is exact. Of zeros the sign is taken from the dividend. Vectors with other numbers are divided, before any
// other arithmetic could raise a flag; nothing is read again, so the quotients may be where the dividends are. Whether
// all has been multiplied.
[[gnu::noinline]] TAGALONG_AVX512 bool multiply(const double* from, const Divisor& divisor, Extent count, double* to) {
  const __m512d value = _mm512_set1_pd(divisor.value);
  const __m512d high = _mm512_set1_pd(divisor.high);
  const __m512d low = _mm512_set1_pd(divisor.low);
  const __m512i sign = _mm512_set1_epi64(INT64_MIN);
  const __m512i positive = _mm512_set1_epi64(INT64_MAX);
  const __m512i smallest = _mm512_set1_epi64(kSmallestDividend);
  const __m512i range = _mm512_set1_epi64(kLargestDividend - kSmallestDividend);
  constexpr int kSelect = 0xCA;  // bit by bit: the first ? the second : the third
  const auto magnitude = [&](__m512d x) TAGALONG_AVX512 { return _mm512_and_si512(positive, _mm512_castpd_si512(x)); };
  const auto others = [&](__m512d x) TAGALONG_AVX512 {
    return _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(magnitude(x), smallest), range);
  };
  const auto has_more_than_zeros = [&](__m512d x) TAGALONG_AVX512 {
    return (others(x) & _mm512_cmpneq_epi64_mask(magnitude(x), _mm512_setzero_si512())) != 0;
  };
  const auto quotient = [&](__m512d x) TAGALONG_AVX512 {
    const __m512d near = _mm512_fmadd_pd(x, high, _mm512_mul_pd(x, low));
    const __m512d remainder = _mm512_fnmadd_pd(near, value, x);
    const __m512d found = _mm512_fmadd_pd(remainder, high, near);
    return _mm512_castsi512_pd(
        _mm512_ternarylogic_epi64(sign, _mm512_castpd_si512(x), _mm512_castpd_si512(found), kSelect));
  };
  bool is_multiplied = true;
  Extent i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const __m512d one = _mm512_loadu_pd(from + i);
    const __m512d two = _mm512_loadu_pd(from + i + kLanes);
    if ((others(one) | others(two)) != 0 && (has_more_than_zeros(one) || has_more_than_zeros(two))) [[unlikely]] {
      is_multiplied = false;
      _mm512_storeu_pd(to + i, _mm512_div_pd(one, value));
      _mm512_storeu_pd(to + i + kLanes, _mm512_div_pd(two, value));
      continue;
    }
    _mm512_storeu_pd(to + i, quotient(one));
    _mm512_storeu_pd(to + i + kLanes, quotient(two));
  }
  for (; i < count; i += kLanes) {
    const __mmask8 mask = mask_of(count - i);
    const __m512d x = _mm512_maskz_loadu_pd(mask, from + i);
    const bool is_divided = has_more_than_zeros(x);
    is_multiplied = is_multiplied && !is_divided;
    _mm512_mask_storeu_pd(to + i, mask, is_divided ? _mm512_maskz_div_pd(mask, x, value) : quotient(x));
  }
  return is_multiplied;
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
  _mm_setcsr(kOrdinary);
  for (Extent done = 0; done < count; done += kBlock) {
    const bool is_multiplied = multiply(from + done, divisor, std::min(kBlock, count - done), to + done);
    (is_multiplied ? quotient_tally.computed : quotient_tally.left).add();
  }
  const unsigned raised = _mm_getcsr() & kReported;
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
