#include "replay/arrays/simd/division.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

LoopTally quotient_tally;
Tally quotients_in_two;

// Rejects negative divisors, and a significand of ones, which the theorem's proof excludes.
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

constexpr Extent kMinElements = 32;  // elements
constexpr Extent kMinForTwo = 128;   // elements from which on takes_two_operations() pays
constexpr Extent kMinAligned = 256;  // elements from which on aligned stores pay for the peeled first elements
constexpr Extent kBlock = 1024;
constexpr auto kItem = static_cast<Extent>(sizeof(double));

// Bits of MXCSR.
constexpr unsigned kRaised = 0x3F;      // all flags
constexpr unsigned kOrdinary = 0x1F80;  // no traps, rounding to nearest, subnormal numbers not flushed

// Dividends from 2^-511 up to 2^513 are multiplied; in this range the two highest bits of the exponent differ.
constexpr std::int64_t kHighestOfExponent = std::int64_t{1} << 62;
constexpr double kSmallestDividend = 0x1p-511;
constexpr double kSmallestNormal = 0x1p-1022;

StridedLoop numpy_loop = nullptr;

__extension__ using UInt128 = unsigned __int128;

struct Divisor {
  double value;
  double high;  // the reciprocal, correctly rounded
  double low;   // the rounding error of `high`, correctly rounded
};

// Whether RN(x * high + RN(x * low)) is RN(x / y) for all x, where nothing underflows or overflows; RN rounds to the
// nearest. Scaling by powers of two changes nothing, and rounding is symmetric, so let x = X / 2^52 and y = Y / 2^52 be
// in [1, 2). Then |low| <= 2^-54, and high + low differs from 1 / y by at most 2^-108; RN(x * low), below 2^-53, has an
// error of at most 2^-107. So the sum that is rounded last has an error E <= x * 2^-108 + 2^-107, and the result is
// wrong only if a midpoint is at most E away from x / y. Let m be odd:
//  * X >= Y: midpoints are m / 2^53 (those below 1 are farther away than E), at the distance c / (2^105 y), where
//    c = |2^53 X - m Y|. c is not 0, as a power of two divides the first term that does not divide the second, and
//    2^105 y E <= y (x / 8 + 1 / 4) < 1: every result is right.
//  * X < Y: midpoints are m / 2^54, as x / y is above 1/2 and below 1 by more than E, at the distance c / (2^106 y),
//    where c = |2^54 X - m Y|, again not 0, and 2^106 y E <= y (x / 4 + 1 / 2) < 2. So a wrong result needs c = 1 and
//    an odd Y: X is 2^-54 or -2^-54 modulo Y. The sum of these two is Y, so only the larger one can be 2^52 or more.
//    This function tries that one.
TAGALONG_AVX512 bool takes_two_operations(const Divisor& divisor) {
  constexpr int kFractionBits = 52;
  constexpr int kShift = 54;
  constexpr std::uint64_t kLeading = std::uint64_t{1} << kFractionBits;
  const auto bits = std::bit_cast<std::uint64_t>(divisor.value);
  const std::uint64_t y = (bits & (kLeading - 1)) | kLeading;
  if (y % 2 == 0) {
    return true;
  }
  std::uint64_t inverse = (3 * y) ^ 2U;  // modulo 2^5; each Newton step doubles the bits
  for (int known = 5; known < kShift; known *= 2) {
    inverse *= 2 - y * inverse;
  }
  const std::uint64_t factor = -inverse & ((std::uint64_t{1} << kShift) - 1);  // factor * y + 1 is a multiple of 2^54
  const auto root = static_cast<std::uint64_t>((static_cast<UInt128>(factor) * y + 1) >> kShift);
  const std::uint64_t nearest = std::max(root, y - root);
  if (nearest < kLeading) {
    return true;
  }
  const auto x = static_cast<double>(nearest);
  return __builtin_fma(x, divisor.high, x * divisor.low) == x / divisor.value;
}

TAGALONG_AVX512 Divisor prepared(double value) {
  const double high = 1.0 / value;
  return {value, high, __builtin_fma(-high, value, 1.0) / value};  // the remainder is exact
}

// Whether the product of no dividend with `low` underflows.
bool is_exact_enough(double low) { return low == 0.0 || std::abs(low) >= kSmallestNormal / kSmallestDividend; }

TAGALONG_INTRINSICS_BEGIN

// Computes the quotients of a block. It multiplies four vectors at once if all their numbers are in range, or in range
// or zero; a zero quotient gets the sign of the dividend. Otherwise, and at both ends, it decides for each vector, and
// divides a vector with other numbers before any arithmetic could raise a flag. It never reads what it has written, so
// `to` may be `from`. Without kTakesTwo it corrects the approximate quotient, which is right but for its last bit, by
// the exact remainder. Returns whether all vectors were multiplied.
template <bool kTakesTwo>
[[gnu::noinline]] TAGALONG_AVX512 bool multiply(const double* from, const Divisor& divisor, Extent first, Extent count,
                                                double* to) {
  const __m512d value = _mm512_set1_pd(divisor.value);
  const __m512d high = _mm512_set1_pd(divisor.high);
  const __m512d low = _mm512_set1_pd(divisor.low);
  const __m512i highest = _mm512_set1_epi64(kHighestOfExponent);
  const auto quotient = [&](__m512d x) TAGALONG_AVX512 {
    const __m512d estimate = _mm512_fmadd_pd(x, high, _mm512_mul_pd(x, low));
    return kTakesTwo ? estimate : _mm512_fmadd_pd(_mm512_fnmadd_pd(estimate, value, x), high, estimate);
  };
  const auto with_sign = [&](__m512d found, __m512d x) TAGALONG_AVX512 {
    constexpr int kSelect = 0xCA;  // bitwise: first ? second : third
    return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(_mm512_set1_epi64(INT64_MIN), _mm512_castpd_si512(x),
                                                         _mm512_castpd_si512(found), kSelect));
  };
  // Keeps the highest bit of the exponent where it differs from the next one.
  constexpr int kAndDiffer = 0x60;  // first & (second ^ third)
  const auto doubled = [&](__m512d x)
                           TAGALONG_AVX512 { return _mm512_add_epi64(_mm512_castpd_si512(x), _mm512_castpd_si512(x)); };
  const auto in_range = [&](__m512i before, __m512d x) TAGALONG_AVX512 {
    return _mm512_ternarylogic_epi64(before, _mm512_castpd_si512(x), doubled(x), kAndDiffer);
  };
  const auto in_range_or_zero = [&](__m512i before, __m512d x) TAGALONG_AVX512 {
    const __m512i twice = doubled(x);
    return _mm512_mask_ternarylogic_epi64(before, _mm512_test_epi64_mask(twice, twice), _mm512_castpd_si512(x), twice,
                                          kAndDiffer);
  };
  const auto all = [&](__m512i found)
                       TAGALONG_AVX512 { return _mm512_test_epi64_mask(found, found) == __mmask8{0xFF}; };
  bool is_multiplied = true;
  const auto one_vector = [&](Extent at, __mmask8 mask) TAGALONG_AVX512 {
    const __m512d x = _mm512_maskz_loadu_pd(mask, from + at);
    const bool is_in_range = all(in_range_or_zero(highest, x));
    is_multiplied = is_multiplied && is_in_range;
    _mm512_mask_storeu_pd(to + at, mask, is_in_range ? with_sign(quotient(x), x) : _mm512_maskz_div_pd(mask, x, value));
  };
  if (first > 0) {
    one_vector(0, mask_of(first));
  }
  Extent i = first;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    const __m512d one = _mm512_loadu_pd(from + i);
    const __m512d two = _mm512_loadu_pd(from + i + kLanes);
    const __m512d three = _mm512_loadu_pd(from + i + 2 * kLanes);
    const __m512d four = _mm512_loadu_pd(from + i + 3 * kLanes);
    if (all(in_range(in_range(in_range(in_range(highest, one), two), three), four))) [[likely]] {
      _mm512_storeu_pd(to + i, quotient(one));
      _mm512_storeu_pd(to + i + kLanes, quotient(two));
      _mm512_storeu_pd(to + i + 2 * kLanes, quotient(three));
      _mm512_storeu_pd(to + i + 3 * kLanes, quotient(four));
    } else if (all(in_range_or_zero(in_range_or_zero(in_range_or_zero(in_range_or_zero(highest, one), two), three),
                                    four))) {
      _mm512_storeu_pd(to + i, with_sign(quotient(one), one));
      _mm512_storeu_pd(to + i + kLanes, with_sign(quotient(two), two));
      _mm512_storeu_pd(to + i + 2 * kLanes, with_sign(quotient(three), three));
      _mm512_storeu_pd(to + i + 3 * kLanes, with_sign(quotient(four), four));
    } else {
      for (Extent j = 0; j < 4; ++j) {
        one_vector(i + j * kLanes, 0xFF);
      }
    }
  }
  for (; i < count; i += kLanes) {
    one_vector(i, mask_of(count - i));
  }
  return is_multiplied;
}

TAGALONG_INTRINSICS_END

TAGALONG_AVX512 int quotients(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides,
                              void* aux) {
  const Extent count = dims[0];
  if (count < kMinElements || strides[0] != kItem || strides[1] != 0 || strides[2] != kItem ||
      (_mm_getcsr() & ~kRaised) != kOrdinary) {
    return numpy_loop(context, data, dims, strides, aux);
  }
  double value;
  std::memcpy(&value, data[1], sizeof(value));
  if (!has_quick_quotients(value)) {
    return numpy_loop(context, data, dims, strides, aux);
  }
  const Divisor divisor = prepared(value);
  if (!is_exact_enough(divisor.low)) {
    return numpy_loop(context, data, dims, strides, aux);
  }
  const bool takes_two = count >= kMinForTwo && takes_two_operations(divisor);
  const auto* from = reinterpret_cast<const double*>(data[0]);
  auto* to = reinterpret_cast<double*>(data[2]);
  Extent first = count >= kMinAligned ? before_line(to) : 0;
  for (Extent done = 0; done < count;) {
    const Extent block = std::min(first + kBlock, count - done);
    const bool is_multiplied = takes_two ? multiply<true>(from + done, divisor, first, block, to + done)
                                         : multiply<false>(from + done, divisor, first, block, to + done);
    (is_multiplied ? quotient_tally.computed : quotient_tally.left).add();
    if (takes_two) {
      quotients_in_two.add();
    }
    done += block;
    first = 0;
  }
  return 0;
}

}  // namespace

StridedLoop quotient_loop(StridedLoop loop) {
  if (!has_avx512() || (numpy_loop != nullptr && numpy_loop != loop)) {
    return loop;
  }
  numpy_loop = loop;
  return quotients;
}

#else

StridedLoop quotient_loop(StridedLoop loop) { return loop; }

#endif

}  // namespace tagalong::array
