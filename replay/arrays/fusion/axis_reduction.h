// Reductions along some of the axes, at the end of a fusion group. The operand lies in memory in one row, so the axes
// are taken in that order, as NumPy's iterator does it; neighbours that are both reduced, or both kept, are one. Where
// the innermost one is reduced, NumPy's reduce loop gets one row after another, otherwise whole rows are added to the
// results, element by element.
#pragma once

#include <array>

#include "replay/arrays/fusion/iteration_space.h"
#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

// As the program has said it, for a number of dimensions that the plan knows.
struct ReducedAxes {
  std::uint8_t mask = 0;  // bit i: axis i is reduced
  bool keeps_dims = false;
  [[nodiscard]] bool has(int axis) const { return (mask >> axis & 1U) != 0; }
};

// One run.
class AxisReducer {
 public:
  // `strides`: of the operand, which is one row of memory, in any unit. False: it is not, or goes backwards.
  [[nodiscard]] bool bind(const Shape& shape, const Strides& strides, const ReducedAxes& axes, Extent item_size);

  // Of the result, and its memory.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Strides& strides() const { return strides_; }
  void place(char* data) { data_ = data; }

  // Elements in a row that become one; 0: the innermost axis is kept.
  [[nodiscard]] Extent row() const { return steps_[0] == 0 ? dims_[0] : 0; }
  // Whether rows are all that there is.
  [[nodiscard]] bool is_of_rows() const { return steps_[0] == 0 && nd_ <= 2; }
  // How many elements become one.
  [[nodiscard]] Extent depth() const { return depth_; }

  void begin(const ReductionKernel& kernel, Reduction reduction);
  // Goes on so many rows later. Only of whole rows.
  void skip(Extent rows) { at_[1] += rows; }
  // Where the result of the next row is. Only of whole rows.
  [[nodiscard]] char* next_result() const { return data_ + (nd_ > 1 ? at_[1] * steps_[1] : 0); }
  // The next elements of the operand. False: the loop says that there is an exception.
  [[nodiscard]] bool take(const ReductionKernel& kernel, Reduction reduction, char* data, Extent stride, Extent count);
  // The next elements, a part of a row whose sum is known.
  void take_sum(const ReductionKernel& kernel, const Accumulator& sum, Extent count);
  // Division of means. False: the bits depend on the order.
  [[nodiscard]] bool finish(const ReductionKernel& kernel, Reduction reduction, Extent block);

 private:
  void advance(Extent count);
  [[nodiscard]] bool is_first() const;
  [[nodiscard]] Extent cells() const { return shape_.count(); }

  Shape shape_;
  Strides strides_{};
  Extent depth_ = 1;
  char* data_ = nullptr;
  int nd_ = 1;  // of the operand in memory, innermost first
  std::array<Extent, kMaxFusionDims> dims_{1};
  std::array<Extent, kMaxFusionDims> steps_{};  // in the result, in bytes; 0: reduced
  std::array<Extent, kMaxFusionDims> at_{};
};

// `rows` of them, each to one element of `results`. False: the loop says that there is an exception.
[[nodiscard]] bool reduce_axis_rows(const ReductionKernel& kernel, Reduction reduction, const char* data, Extent stride,
                                    Extent row, Extent rows, char* results);
// Division of means by the elements in a row. False: the bits depend on the order.
[[nodiscard]] bool finish_rows(const ReductionKernel& kernel, Reduction reduction, Extent row, Extent rows,
                               char* results);

}  // namespace tagalong::array
