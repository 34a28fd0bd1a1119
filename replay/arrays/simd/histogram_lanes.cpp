#include "replay/arrays/simd/histogram_lanes.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

#if defined(__x86_64__)

namespace {

constexpr Extent kFour = 4;   // lanes
constexpr Extent kBytes = 8;  // byte counters in a lane
constexpr Extent kByteBits = 8;
constexpr Extent kByteMost = 255;
constexpr Extent kMostCounted = 32;
constexpr Extent kMostSummed = 16;

TAGALONG_INTRINSICS_BEGIN

// Each lane has a byte counter for each of eight bins. A label shifts a one to its counter; for a label that belongs to
// another word the shift count is out of range, and the result is zero.
template <Extent kWords>
TAGALONG_AVX2 Extent count_in_bytes(const std::int64_t* labels, Extent count, Extent size, std::int64_t* bins) {
  const __m256i one = _mm256_set1_epi64x(1);
  Extent i = 0;
  while (i + kFour <= count) {
    __m256i counters[kWords];  // NOLINT(*-avoid-c-arrays): a template argument would lose the alignment
    std::fill_n(counters, kWords, _mm256_setzero_si256());
    const Extent end = std::min(count - kFour, i + (kByteMost - 1) * kFour);
    for (; i <= end; i += kFour) {
      const __m256i found = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(labels + i));
      const __m256i bits = _mm256_slli_epi64(found, 3);
      for (Extent word = 0; word < kWords; ++word) {
        const __m256i shift = _mm256_sub_epi64(bits, _mm256_set1_epi64x(word * kBytes * kByteBits));
        counters[word] = _mm256_add_epi64(counters[word], _mm256_sllv_epi64(one, shift));
      }
    }
    std::array<std::uint8_t, sizeof(counters)> bytes;  // NOLINT(*-member-init): all are written
    std::memcpy(bytes.data(), counters, bytes.size());
    for (Extent bin = 0; bin < size; ++bin) {
      const std::uint8_t* first = bytes.data() + bin / kBytes * kFour * kBytes + bin % kBytes;
      for (Extent lane = 0; lane < kFour; ++lane) {
        bins[bin] += first[lane * kBytes];
      }
    }
  }
  return i;
}

// Each bin has a lane. Every step adds the weight to its lane and zero to the others. Adding zero changes no sum but
// -0.0, and a sum that begins with zero becomes -0.0 only in a rounding mode that also gives -0.0 for -0.0 + 0.0.
template <Extent kVectors>
TAGALONG_AVX2 void add_in_lanes(const std::int64_t* labels, const double* weights, Extent count, Extent size,
                                double* bins) {
  __m256d sums[kVectors];     // NOLINT(*-avoid-c-arrays): as above
  __m256i numbers[kVectors];  // NOLINT(*-avoid-c-arrays): as above
  for (Extent vector = 0; vector < kVectors; ++vector) {
    const Extent first = vector * kFour;
    sums[vector] = _mm256_setzero_pd();
    numbers[vector] = _mm256_set_epi64x(first + 3, first + 2, first + 1, first);
  }
  for (Extent i = 0; i < count; ++i) {
    const __m256i label = _mm256_set1_epi64x(labels[i]);
    const __m256d weight = _mm256_broadcast_sd(weights + i);
    for (Extent vector = 0; vector < kVectors; ++vector) {
      const __m256d is_bin = _mm256_castsi256_pd(_mm256_cmpeq_epi64(label, numbers[vector]));
      sums[vector] = _mm256_add_pd(sums[vector], _mm256_and_pd(is_bin, weight));
    }
  }
  std::array<double, kVectors * kFour> all;  // NOLINT(*-member-init): all are written
  std::memcpy(all.data(), sums, sizeof(all));
  std::copy_n(all.begin(), size, bins);
}

TAGALONG_INTRINSICS_END

}  // namespace

Extent count_few(const std::int64_t* labels, Extent count, Extent size, std::int64_t* bins) {
  if (size > kMostCounted || !has_avx2()) {
    return 0;
  }
  switch ((size + kBytes - 1) / kBytes) {
    case 1:
      return count_in_bytes<1>(labels, count, size, bins);
    case 2:
      return count_in_bytes<2>(labels, count, size, bins);
    default:
      return count_in_bytes<4>(labels, count, size, bins);
  }
}

Extent add_few(const std::int64_t* labels, const double* weights, Extent count, Extent size, double* bins) {
  // In flush-to-zero mode, adding zero would flush a subnormal sum.
  if (size > kMostSummed || !has_avx2() || (_mm_getcsr() & kSubnormalsAreZeros) != 0) {
    return 0;
  }
  switch ((size + kFour - 1) / kFour) {
    case 1:
      add_in_lanes<1>(labels, weights, count, size, bins);
      break;
    case 2:
      add_in_lanes<2>(labels, weights, count, size, bins);
      break;
    default:
      add_in_lanes<4>(labels, weights, count, size, bins);
  }
  return count;
}

#else

Extent count_few(const std::int64_t* /*labels*/, Extent /*count*/, Extent /*size*/, std::int64_t* /*bins*/) {
  return 0;
}

Extent add_few(const std::int64_t* /*labels*/, const double* /*weights*/, Extent /*count*/, Extent /*size*/,
               double* /*bins*/) {
  return 0;
}

#endif

}  // namespace tagalong::array
