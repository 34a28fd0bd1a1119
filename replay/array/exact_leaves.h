// Pairwise sums of results that machine code (exact_code.h) adds up while they are in a register: it is told where
// NumPy's summation begins a new leaf, and leaves the eight partial sums of each.
//
//   cut_leaves(count, leaves);          // then the code runs
//   const double sum = sum_of_leaves(count, leaves);
#pragma once

#include "replay/array/exact_code.h"

namespace tagalong::array {

// One for each leaf of eight elements or more, and the one that ends them.
void cut_leaves(Extent count, ExactLeaf* leaves);
[[nodiscard]] double sum_of_leaves(Extent count, const ExactLeaf* leaves);

}  // namespace tagalong::array
