#include "replay/arrays/fusion/axis_reduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "replay/arrays/simd/lanes.h"
#include "replay/arrays/simd/row_reductions.h"

namespace tagalong::array {

namespace {

// NumPy divides by a 64-bit integer, in double or, before 2.0, in the type of the sum.
template <class T>
bool finish_all(char* data, Extent cells, Extent divisor, bool has_root, bool zeros_matter) {
  constexpr Extent kExact = Extent{1} << 24U;  // largest integer range that float represents exactly
  bool is_open = !std::is_same_v<T, double> && divisor > kExact;
  for (Extent i = 0; i < cells; ++i) {
    T value;
    std::memcpy(&value, data + i * static_cast<Extent>(sizeof(T)), sizeof(T));
    if (divisor != 0) {
      value = static_cast<T>(static_cast<double>(value) / static_cast<double>(divisor));
      value = has_root ? std::sqrt(value) : value;
      std::memcpy(data + i * static_cast<Extent>(sizeof(T)), &value, sizeof(T));
    }
    // No branches, so that the loop is vectorised.
    is_open |= std::isnan(value);
    is_open |= zeros_matter && value == 0;
  }
  return !is_open;
}

// `depth`: how many elements became one.
bool finish_cells(const ReductionKernel& kernel, Reduction reduction, Extent depth, const MeanEnd& end,
                  bool zeros_matter, Extent cells, char* data) {
  const bool is_mean = reduction == Reduction::kMean;
  if (is_mean && depth <= end.freedom) {
    return false;
  }
  const Extent divisor = is_mean ? depth - end.freedom : 0;
  if (kernel.type == kFloat) {
    return finish_all<float>(data, cells, divisor, end.has_root, zeros_matter);
  }
  return kernel.type != kDouble || finish_all<double>(data, cells, divisor, end.has_root, zeros_matter);
}

}  // namespace

bool AxisReducer::bind(const Shape& shape, const Strides& strides, const ReducedAxes& axes, Extent item_size) {
  const Strides* only = &strides;
  const auto order = axis_order({&only, 1}, shape);
  *this = AxisReducer();
  nd_ = 0;
  Extent unit = 0;      // smallest of the operand's strides
  Extent expected = 0;  // the stride of the next axis
  Extent step = item_size;
  Strides kept{};
  for (int i = 0; i < shape.nd; ++i) {
    const int axis = order[i];
    const Extent extent = shape.dims[axis];
    const bool is_reduced = axes.has(axis);
    kept[axis] = step;
    if (is_reduced) {
      depth_ *= extent;
    } else {
      step *= extent;
    }
    if (extent == 1) {
      continue;
    }
    if (unit == 0) {
      unit = expected = strides[axis];
    }
    if (unit <= 0 || strides[axis] != expected) {
      return false;
    }
    expected *= extent;
    if (nd_ > 0 && (steps_[nd_ - 1] == 0) == is_reduced) {
      dims_[nd_ - 1] *= extent;
    } else {
      dims_[nd_] = extent;
      steps_[nd_++] = is_reduced ? 0 : kept[axis];
    }
  }
  nd_ = std::max(nd_, 1);
  for (int axis = 0; axis < shape.nd; ++axis) {
    if (!axes.has(axis) || axes.keeps_dims) {
      shape_.dims[shape_.nd] = axes.has(axis) ? 1 : shape.dims[axis];
      strides_[shape_.nd++] = kept[axis];
    }
  }
  return true;
}

void AxisReducer::begin(const ReductionKernel& kernel, Reduction reduction) {
  at_ = {};
  if (begins_with_element(reduction) || kernel.takes_rows) {
    return;
  }
  Accumulator first;
  array::begin(kernel, reduction, &first);
  fill_row(first.bytes, kernel.item_size, cells(), data_);
}

// Whether the current results have not got any element yet.
bool AxisReducer::is_first() const {
  for (int i = 0; i < nd_; ++i) {
    if (steps_[i] == 0 && at_[i] != 0) {
      return false;
    }
  }
  return true;
}

// Moves on along an axis, by no more than is left of it.
void AxisReducer::advance(Extent count, int axis) {
  at_[axis] += count;
  for (int i = axis; i + 1 < nd_ && at_[i] == dims_[i]; ++i) {
    at_[i] = 0;
    ++at_[i + 1];
  }
}

// The address of the current result.
char* AxisReducer::result() const {
  char* result = data_;
  for (int i = 0; i < nd_; ++i) {
    result += at_[i] * steps_[i];
  }
  return result;
}

// How many of the next rows are added to the same results by one call.
Extent AxisReducer::rows_to_add(const ReductionKernel& kernel, Extent stride, Extent count) const {
  const bool are_added = kernel.short_axes.of_columns != nullptr && nd_ > 1 && steps_[0] != 0 && at_[0] == 0 &&
                         dims_[0] <= kMostAddedRow && stride == kernel.item_size;
  return are_added ? std::min(count / dims_[0], dims_[1] - at_[1]) : 0;
}

bool AxisReducer::take(const ReductionKernel& kernel, Reduction reduction, char* data, Extent stride, Extent count) {
  if (kernel.takes_rows || (reduces_whole_rows() && at_[0] == 0 && count % dims_[0] == 0)) {
    const Extent rows = count / dims_[0];
    char* results = next_result();
    at_[1] += rows;
    return reduce_axis_rows(kernel, reduction, data, stride, dims_[0], rows, results);
  }
  while (count > 0) {
    if (const Extent rows = rows_to_add(kernel, stride, count); rows > 1) {
      kernel.short_axes.of_columns(data, dims_[0], rows, result());
      advance(rows, 1);
      data += rows * dims_[0] * stride;
      count -= rows * dims_[0];
      continue;
    }
    const Extent piece = std::min(count, dims_[0] - at_[0]);
    char* result = this->result();
    char* from = data;
    Extent left = piece;
    if (begins_with_element(reduction) && is_first()) {
      const Extent copied = steps_[0] == 0 ? 1 : piece;
      for (Extent i = 0; i < copied; ++i) {
        std::memcpy(result + i * kernel.item_size, from + i * stride, kernel.item_size);
      }
      left -= copied;
      from += copied * stride;
    }
    const std::array<char*, 3> places{result, from, result};
    const std::array<Extent, 3> strides{steps_[0], stride, steps_[0]};
    if (left > 0 && kernel.loop(kernel.context, places.data(), &left, strides.data(), kernel.auxdata) != 0) {
      return false;
    }
    advance(piece);
    data += piece * stride;
    count -= piece;
  }
  return true;
}

void AxisReducer::take_sum(const ReductionKernel& kernel, const Accumulator& sum, Extent count) {
  char* result = this->result();
  Accumulator total;
  std::memcpy(total.bytes, result, kernel.item_size);
  add_leaves(kernel, sum, &total);
  std::memcpy(result, total.bytes, kernel.item_size);
  advance(count);
}

bool AxisReducer::finish(const ReductionKernel& kernel, Reduction reduction, Extent block, const MeanEnd& end) {
  const bool zeros_matter = begins_with_element(reduction) && dims_[0] > block;
  return finish_cells(kernel, reduction, depth_, end, zeros_matter, cells(), data_);
}

bool reduce_axis_rows(const ReductionKernel& kernel, Reduction reduction, const char* data, Extent stride, Extent row,
                      Extent rows, char* results) {
  if (kernel.rows != nullptr && row <= kMostRowTogether && stride == static_cast<Extent>(sizeof(double))) {
    kernel.rows(data, row, rows, results);
    return true;
  }
  if (kernel.rows_together != nullptr && row <= kMostReducedTogether && rows >= kLanes &&
      stride == static_cast<Extent>(sizeof(double))) {
    kernel.rows_together(kernel, data, row, rows, results);
    return true;
  }
  if (kernel.short_axes.of_rows != nullptr && row <= kMostShortRow && stride == kernel.item_size) {
    kernel.short_axes.of_rows(kernel, data, row, rows, results);
    return true;
  }
  if (kernel.takes_rows) {
    for (Extent i = 0; i < rows; ++i) {
      char* result = results + i * kernel.item_size;
      const std::array<char*, 3> places{result, const_cast<char*>(data) + i * row * stride, result};
      const std::array<Extent, 3> strides{0, stride, 0};
      if (kernel.loop(kernel.context, places.data(), &row, strides.data(), kernel.auxdata) != 0) {
        return false;
      }
    }
    return true;
  }
  for (Extent i = 0; i < rows; ++i) {
    if (!reduce_row(kernel, reduction, data + i * row * stride, stride, row, results + i * kernel.item_size)) {
      return false;
    }
  }
  return true;
}

bool finish_rows(const ReductionKernel& kernel, Reduction reduction, Extent row, Extent rows, const MeanEnd& end,
                 char* results) {
  return finish_cells(kernel, reduction, row, end, false, rows, results);
}

}  // namespace tagalong::array
