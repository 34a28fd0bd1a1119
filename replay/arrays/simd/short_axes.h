// Reductions over short axes, such as the coordinates of a point or the colours of a pixel. NumPy calls its loop for
// each row of elements that become one, and for each row of elements that are added to sums; for short rows the calls
// take most of the time. One call here takes many rows. The bits are NumPy's: rows are summed as a leaf of its
// reduction tree, and rows that are added to sums are added one after another.
//
//   if (kernel.short_axes.of_rows != nullptr) kernel.short_axes.of_rows(kernel, data, row, rows, results);
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

enum class Reduction : std::uint8_t;
struct ReductionKernel;

// Numbers of rows.
extern Tally short_rows_reduced;
extern Tally short_rows_added;

struct ShortAxes {
  // Reduces each row of up to kMostShortRow contiguous elements. Null: there is no such loop.
  using OfRows = void (*)(const ReductionKernel& kernel, const char* data, Extent row, Extent rows, char* results);
  // Adds rows of up to kMostAddedRow contiguous elements to as many sums. Null: there is no such loop.
  using OfColumns = void (*)(const char* data, Extent row, Extent rows, char* sums);
  OfRows of_rows = nullptr;
  OfColumns of_columns = nullptr;
};

inline constexpr Extent kMostShortRow = 32;
inline constexpr Extent kMostAddedRow = 64;

[[nodiscard]] ShortAxes short_axes(const ReductionKernel& kernel, Reduction reduction);

}  // namespace tagalong::array
