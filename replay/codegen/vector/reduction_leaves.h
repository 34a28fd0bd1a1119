// Pairwise summation of results that machine code (vector_code.h) adds up while they are in registers. This class cuts
// a block into the leaves of NumPy's summation tree, the code stores eight partial sums for each leaf, and sum() adds
// them in NumPy's order.
//
//   leaves.cut(count);               // before the code runs with leaves.begin()
//   const double sum = leaves.sum();
#pragma once

#include <array>

#include "replay/arrays/simd/pairwise.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

class ReductionLeaves {
 public:
  static constexpr Extent kMost = 4096;  // elements

  // The cuts of the last two counts are cached: the blocks of one array have two lengths.
  void cut(Extent count);
  [[nodiscard]] SumLeaf* begin() { return cuts_[current_].leaves.data(); }
  // The sum of the elements that were cut.
  [[nodiscard]] double sum() const;

 private:
  // Each leaf has at least half of the maximal length; two more entries hold the remaining elements and the end.
  static constexpr std::size_t kMostLeaves = kMost / (kLeaf / 2) + 2;

  struct Cut {
    Extent count = -1;
    std::size_t number = 0;  // leaves of at least eight elements
    std::array<SumLeaf, kMostLeaves>
        leaves;  // NOLINT(cppcoreguidelines-pro-type-member-init): cut() writes the used ones
    void cut(Extent begin, Extent elements);
  };
  std::array<Cut, 2> cuts_;
  std::size_t current_ = 0;
};

}  // namespace tagalong::array
