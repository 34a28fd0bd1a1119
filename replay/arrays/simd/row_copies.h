// Copies of rows of elements: between arrays with any strides and blocks of memory, and of one element for a whole row.
// Short rows are copied without a call for each.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Bytes from one element of a row to the next, and from one row to the next.
struct RowSteps {
  Extent item;
  Extent row;
};

// Copies `rows` rows of `count` elements of `size` bytes. What is read and what is written do not overlap.
void copy_rows(const char* from, RowSteps from_steps, char* to, RowSteps to_steps, std::size_t size, Extent count,
               Extent rows);

inline void copy_row(const char* from, Extent from_stride, char* to, Extent to_stride, std::size_t size, Extent count) {
  copy_rows(from, {from_stride, 0}, to, {to_stride, 0}, size, count, 1);
}

// Writes the element `count` times.
void fill_row(const char* from, std::size_t item_size, Extent count, char* to);

}  // namespace tagalong::array
