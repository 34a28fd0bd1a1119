// Sums and extremes of many short rows of doubles, eight rows at once with one lane for each. The bits are those of one
// call of NumPy's reduce loop for each row; for short rows the calls would take most of the time.
//
//   if (RowsTogether reduce = rows_together(kernel, Reduction::kSum)) reduce(kernel, data, row, rows, results);
#pragma once

#include "replay/arrays/simd/pairwise.h"
#include "replay/arrays/simd/reduction.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Number of rows.
extern Tally rows_reduced_together;

// Longest row: one leaf of the reduction tree.
inline constexpr Extent kMostReducedTogether = kLeaf;

// Null: no loop for this kernel or processor.
[[nodiscard]] RowsTogether rows_together(const ReductionKernel& kernel, Reduction reduction);

}  // namespace tagalong::array
