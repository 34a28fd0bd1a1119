#include "replay/array/exact_leaves.h"

#include "replay/array/pairwise.h"

namespace tagalong::array {

void cut_leaves(Extent count, ExactLeaf* leaves) {
  const auto cut = [&](Extent begin, Extent elements) {
    if (elements >= kLanes) {
      leaves->end = begin + elements / kLanes * kLanes;
      ++leaves;
    }
    return 0;
  };
  static_cast<void>(pairwise_sum(0, count, kLeaf, cut));
  leaves->end = 0;
}

#if defined(__x86_64__)

double sum_of_leaves(Extent count, const ExactLeaf* leaves) {
  const auto sum_of_leaf = [&](Extent /*begin*/, Extent elements) TAGALONG_AVX512 {
    double sum = -0.0;
    if (elements >= kLanes) {
      sum = sum_of_lanes(_mm512_loadu_pd(leaves->sums.data()));
      ++leaves;
    }
    for (Extent i = 0; i < elements % kLanes; ++i) {  // there are such only in the last leaf
      sum += leaves->sums.at(static_cast<std::size_t>(i));
    }
    return sum;
  };
  return pairwise_sum(0, count, kLeaf, sum_of_leaf);
}

#else

double sum_of_leaves(Extent /*count*/, const ExactLeaf* /*leaves*/) { return 0; }

#endif

}  // namespace tagalong::array
