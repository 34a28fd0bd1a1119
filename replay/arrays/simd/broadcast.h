// A column beside rows: each of its elements as often as a row is long, one after the other.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// Columns that were spread by vectors.
extern Tally columns_broadcast;

// `rows` elements of eight bytes, each of them `row` times, to a row of memory. False: rows of this length are left to
// the usual way.
[[nodiscard]] bool broadcast(const char* from, Extent stride, Extent row, Extent rows, char* to);

}  // namespace tagalong::array
