// Broadcasting of a column: repeats each element as many times as a row is long.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Columns that were broadcast with vector instructions.
extern Tally columns_broadcast;

// Writes `rows` elements of `item_size` bytes to contiguous memory, each `row` times. False: not implemented for rows
// of this length, or such elements; nothing has been written.
[[nodiscard]] bool broadcast(const char* from, Extent stride, std::size_t item_size, Extent row, Extent rows, char* to);

}  // namespace tagalong::array
