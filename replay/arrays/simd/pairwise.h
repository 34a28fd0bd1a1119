// NumPy's pairwise summation: recursive halving down to leaves, each of which is summed in eight partial sums.
#pragma once

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

inline constexpr Extent kLeaf = 128;  // a leaf's maximal number of elements

// Elements in the left half of a longer range. NumPy cuts complex numbers, which have two parts, as many parts.
[[nodiscard]] constexpr Extent left_half(Extent count, Extent parts = 1) {
  const Extent half = count * parts / 2;
  return (half - half % kLanes) / parts;
}

// Sums `count` elements from `begin` on. Calls leaf(begin, count), which returns the sum of a leaf, from left to right.
template <class Leaf>
[[nodiscard]] auto pairwise_sum(Extent begin, Extent count, Extent most, const Leaf& leaf, Extent parts = 1)
    -> decltype(leaf(begin, count)) {
  if (count <= most) {
    return leaf(begin, count);
  }
  const Extent left = left_half(count, parts);
  const auto sum = pairwise_sum(begin, left, most, leaf, parts);
  return sum + pairwise_sum(begin + left, count - left, most, leaf, parts);
}

}  // namespace tagalong::array
