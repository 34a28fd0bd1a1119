// Pairwise sums of results that machine code (vector_code.h) adds up while they are in a register: it is told where
// NumPy's summation begins a new leaf, and leaves the eight partial sums of each.
//
//   leaves.cut(count);          // then the code runs with leaves.begin()
//   const double sum = leaves.sum();
#pragma once

#include <array>

#include "replay/arrays/simd/pairwise.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

class ReductionLeaves {
 public:
  static constexpr Extent kMost = 4096;  // elements

  // Those of the last one or two calls are still known: blocks of one array are of two lengths.
  void cut(Extent count);
  [[nodiscard]] SumLeaf* begin() { return cuts_[current_].leaves.data(); }
  // Of the elements that were cut.
  [[nodiscard]] double sum() const;

 private:
  // Each has at least half of the elements that it may have. What is left over, and the end.
  static constexpr std::size_t kMostLeaves = kMost / (kLeaf / 2) + 2;

  struct Cut {
    Extent count = -1;
    std::size_t number = 0;                   // of leaves that have eight elements
    std::array<SumLeaf, kMostLeaves> leaves;  // NOLINT(cppcoreguidelines-pro-type-member-init): as many as are cut
    void cut(Extent begin, Extent elements);
  };
  std::array<Cut, 2> cuts_;
  std::size_t current_ = 0;
};

}  // namespace tagalong::array
