// NumPy's pairwise summation: halves of halves down to leaves, each of which has eight partial sums.
#pragma once

#include "replay/array/lanes.h"

namespace tagalong::array {

inline constexpr Extent kLeaf = 128;  // elements that are not halved any more

// Where more elements are cut.
[[nodiscard]] constexpr Extent left_half(Extent count) { return count / 2 - (count / 2) % kLanes; }

// Of elements from `begin` on; leaf(begin, count) is called for one leaf after another and gives its sum.
template <class Leaf>
[[nodiscard]] auto pairwise_sum(Extent begin, Extent count, Extent most, const Leaf& leaf)
    -> decltype(leaf(begin, count)) {
  if (count <= most) {
    return leaf(begin, count);
  }
  const Extent left = left_half(count);
  const auto sum = pairwise_sum(begin, left, most, leaf);
  return sum + pairwise_sum(begin + left, count - left, most, leaf);
}

#if defined(__x86_64__)

// Of a leaf's partial sums.
[[nodiscard]] TAGALONG_AVX512 inline double sum_of_lanes(__m512d sums) {
  // Under a mask of all: what GCC 12 has without one leaves something undefined on purpose, and it warns of that.
  const __m256d pairs =
      _mm256_hadd_pd(_mm512_maskz_extractf64x4_pd(0xF, sums, 0), _mm512_maskz_extractf64x4_pd(0xF, sums, 1));
  const __m128d fours = _mm_add_pd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd(pairs, 1));
  return _mm_cvtsd_f64(fours) + _mm_cvtsd_f64(_mm_unpackhi_pd(fours, fours));
}

#endif

}  // namespace tagalong::array
