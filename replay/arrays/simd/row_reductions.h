// Sums and extremes of many short rows of doubles: eight rows at once, a lane each. The same bits as one call of
// NumPy's reduce loop for each of them, which takes longer than what it does.
//
//   if (RowsTogether reduce = rows_together(kernel, Reduction::kSum)) reduce(kernel, data, row, rows, results);
#pragma once

#include "replay/arrays/simd/pairwise.h"
#include "replay/arrays/simd/reduction.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Rows.
extern Tally rows_reduced_together;

// Of longer ones each is worth a call: its sum is one of halves.
inline constexpr Extent kMostReducedTogether = kLeaf;

// Null: none for this kernel, or for this machine.
[[nodiscard]] RowsTogether rows_together(const ReductionKernel& kernel, Reduction reduction);

}  // namespace tagalong::array
