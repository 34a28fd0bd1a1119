// argmax and argmin of many short rows of doubles, eight rows at once with one lane for each. The results are those of
// `argmin_loop` for each row.
//
//   if (RowArgmin find = row_places(kDouble, true)) find(data, row, rows, results);
#pragma once

#include <cstdint>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Numbers of rows.
extern Tally argmin_in_rows;
extern Tally argmin_fused;  // rows reduced by the fused kernel that computes the elements

// A loop over contiguous rows; the results are int64.
using RowArgmin = void (*)(const char* data, Extent row, Extent rows, char* results);

// Longest row; longer ones are vectorised by themselves.
inline constexpr Extent kMostRowTogether = 32;

// Null: no loop for this type or processor.
[[nodiscard]] RowArgmin row_places(unsigned type, bool of_largest);

}  // namespace tagalong::array
