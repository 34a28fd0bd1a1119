// Sums over short axes, such as the coordinates of a point or the colours of a pixel. NumPy calls its loop for each row
// of elements that become one sum, and for each row of elements that are added to sums; for short rows the calls take
// most of the time. One call here takes many rows. The bits are NumPy's: up to seven elements are added one after
// another, as are the rows that are added to sums.
//
//   if (const ShortSums sums = short_sums(kernel); sums.of_rows != nullptr) sums.of_rows(data, row, rows, results);
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

struct ReductionKernel;

// Numbers of rows.
extern Tally short_rows_summed;
extern Tally short_rows_added;

struct ShortSums {
  // The sum of each row of up to kMostShortRow contiguous elements. Null: there is no such loop.
  using OfRows = void (*)(const char* data, Extent row, Extent rows, char* results);
  // Adds rows of up to kMostAddedRow contiguous elements to as many sums. Null: there is no such loop.
  using OfColumns = void (*)(const char* data, Extent row, Extent rows, char* sums);
  OfRows of_rows = nullptr;
  OfColumns of_columns = nullptr;
};

inline constexpr Extent kMostShortRow = 7;
inline constexpr Extent kMostAddedRow = 64;

// For the loop of a sum or a mean.
[[nodiscard]] ShortSums short_sums(const ReductionKernel& kernel);

}  // namespace tagalong::array
