// Where in each of many short rows of doubles the largest or smallest element is: eight rows at once, a lane each. The
// same answers as those of `argmin_loop`, row by row.
//
//   if (RowArgmin find = row_places(kDouble, true)) find(data, row, rows, results);
#pragma once

#include <cstdint>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Rows.
extern Tally argmin_in_rows;
extern Tally argmin_fused;  // by the code that computes the elements

// Rows that lie one after the other in memory; the results are int64.
using RowArgmin = void (*)(const char* data, Extent row, Extent rows, char* results);

// Longer ones have vectors enough of their own.
inline constexpr Extent kMostRowTogether = 32;

// Null: none for this type, or for this machine.
[[nodiscard]] RowArgmin row_places(unsigned type, bool of_largest);

}  // namespace tagalong::array
