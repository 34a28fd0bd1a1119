#include "replay/codegen/vector/reduction_leaves.h"

namespace tagalong::array {

void ReductionLeaves::cut(Extent count) {
  if (cuts_[current_].count == count) {
    return;
  }
  current_ = 1 - current_;
  Cut& cut = cuts_[current_];
  if (cut.count != count) {
    cut.count = count;
    cut.number = 0;
    cut.cut(0, count);
    cut.leaves[cut.number].end = 0;
  }
}

void ReductionLeaves::Cut::cut(Extent begin, Extent elements) {
  if (elements > kLeaf) {
    const Extent left = left_half(elements);
    cut(begin, left);
    cut(begin + left, elements - left);
    ++leaves[number - 1].halves;
  } else if (elements >= kLanes) {
    leaves[number].end = begin + elements / kLanes * kLanes;
    leaves[number].halves = 0;
    ++number;
  }
}

namespace {

double sum_one_by_one(const SumLeaf& leaf) {
  const std::array<double, 8>& s = leaf.sums;
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

#if defined(__x86_64__)

TAGALONG_INTRINSICS_BEGIN
TAGALONG_AVX512 __m512d lanes_of(const SumLeaf& leaf) { return _mm512_loadu_pd(leaf.sums.data()); }

// Adds neighbouring partial sums; results of `one` and `two` alternate.
TAGALONG_AVX512 __m512d pairs_of(const SumLeaf& one, const SumLeaf& two) {
  return _mm512_add_pd(_mm512_unpacklo_pd(lanes_of(one), lanes_of(two)),
                       _mm512_unpackhi_pd(lanes_of(one), lanes_of(two)));
}

// Adds neighbouring 128-bit quarters; results of `one` come first.
TAGALONG_AVX512 __m512d folded(__m512d one, __m512d two) {
  constexpr int kQuarters02 = 0x88;
  constexpr int kQuarters13 = 0xDD;
  return _mm512_add_pd(_mm512_shuffle_f64x2(one, two, kQuarters02), _mm512_shuffle_f64x2(one, two, kQuarters13));
}

// Sums of eight leaves, in the order of sum_one_by_one().
TAGALONG_AVX512 void sums_of_eight(const SumLeaf* leaves, double* sums) {
  const __m512d first = folded(pairs_of(leaves[0], leaves[1]), pairs_of(leaves[2], leaves[3]));
  const __m512d second = folded(pairs_of(leaves[4], leaves[5]), pairs_of(leaves[6], leaves[7]));
  _mm512_storeu_pd(sums, folded(first, second));
}
TAGALONG_INTRINSICS_END

// Sums the leaves in groups of eight. Returns how many leaves that covers.
std::size_t sum_eights(const SumLeaf* leaves, std::size_t number, double* sums) {
  std::size_t done = 0;
  const std::size_t most = has_avx512() ? number : 0;
  for (; done + kLanes <= most; done += kLanes) {
    sums_of_eight(leaves + done, sums + done);
  }
  return done;
}

#else

std::size_t sum_eights(const SumLeaf* /*leaves*/, std::size_t /*number*/, double* /*sums*/) { return 0; }

#endif

}  // namespace

double ReductionLeaves::sum() const {
  const Cut& cut = cuts_[current_];
  std::array<double, kMostLeaves> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t done = sum_eights(cut.leaves.data(), cut.number, sums.data()); done < cut.number; ++done) {
    sums[done] = sum_one_by_one(cut.leaves[done]);
  }
  double last = cut.number > 0 ? sums[cut.number - 1] : -0.0;
  for (Extent i = 0; i < cut.count % kLanes; ++i) {
    last += cut.leaves[cut.number].sums[static_cast<std::size_t>(i)];
  }
  if (cut.number == 0) {
    return last;
  }
  sums[cut.number - 1] = last;
  std::size_t open = 0;  // sums[0, open) is a stack of subtrees whose right sibling is not complete
  for (std::size_t leaf = 0; leaf < cut.number; ++leaf) {
    double sum = sums[leaf];
    for (Extent halves = cut.leaves[leaf].halves; halves > 0; --halves) {
      sum = sums[--open] + sum;
    }
    sums[open++] = sum;
  }
  return sums[0];
}

}  // namespace tagalong::array
