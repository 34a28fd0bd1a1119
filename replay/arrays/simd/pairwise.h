// NumPy's pairwise summation: halves of halves down to leaves, each of which has eight partial sums.
#pragma once

#include "replay/arrays/simd/lanes.h"

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

}  // namespace tagalong::array
