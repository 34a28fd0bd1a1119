// Reductions along some axes at the end of a fusion group. The operand is one row of memory, and the axes are taken in
// its order, as NumPy's iterator does it; neighbouring axes that are both reduced or both kept are merged. Where the
// innermost axis is reduced, NumPy's reduce loop gets one row after another; otherwise rows are added to the results
// element by element.
#pragma once

#include <array>

#include "replay/arrays/fusion/iteration_space.h"
#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

// The axes as the program gives them, for a number of dimensions that the plan knows.
struct ReducedAxes {
  std::uint8_t mask = 0;  // bit i: axis i is reduced
  bool keeps_dims = false;
  [[nodiscard]] bool has(int axis) const { return (mask >> axis & 1U) != 0; }
};

// The axis reduction of one run.
class AxisReducer {
 public:
  // `strides`: of the operand, in any unit. False: the operand is not one row of memory, or goes backwards.
  [[nodiscard]] bool bind(const Shape& shape, const Strides& strides, const ReducedAxes& axes, Extent item_size);

  // The shape and strides of the result; set_data() gives its memory.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Strides& strides() const { return strides_; }
  void set_data(char* data) { data_ = data; }

  // Elements of a row that become one element; 0: the innermost axis is kept.
  [[nodiscard]] Extent row() const { return steps_[0] == 0 ? dims_[0] : 0; }
  // Whether only the innermost axis is reduced.
  [[nodiscard]] bool reduces_whole_rows() const { return steps_[0] == 0 && nd_ <= 2; }
  // How many elements become one.
  [[nodiscard]] Extent depth() const { return depth_; }

  void begin(const ReductionKernel& kernel, Reduction reduction);
  // Skips rows. Only where whole rows are reduced.
  void skip(Extent rows) { at_[1] += rows; }
  // The address of the next row's result. Only where whole rows are reduced.
  [[nodiscard]] char* next_result() const { return data_ + (nd_ > 1 ? at_[1] * steps_[1] : 0); }
  // Reduces the next elements of the operand. False: the loop has set an exception.
  [[nodiscard]] bool take(const ReductionKernel& kernel, Reduction reduction, char* data, Extent stride, Extent count);
  // Adds the known sum of the next elements, a part of a row.
  void take_sum(const ReductionKernel& kernel, const Accumulator& sum, Extent count);
  // Divides means. False: the bits depend on the order of operations, or eager execution warns.
  [[nodiscard]] bool finish(const ReductionKernel& kernel, Reduction reduction, Extent block, const MeanEnd& end);

 private:
  void advance(Extent count, int axis = 0);
  [[nodiscard]] char* result() const;
  [[nodiscard]] Extent rows_to_add(const ReductionKernel& kernel, Extent stride, Extent count) const;
  [[nodiscard]] bool is_first() const;
  [[nodiscard]] Extent cells() const { return shape_.count(); }

  Shape shape_;
  Strides strides_{};
  Extent depth_ = 1;
  char* data_ = nullptr;
  int nd_ = 1;  // of the operand in memory, innermost first
  std::array<Extent, kMaxFusionDims> dims_{1};
  std::array<Extent, kMaxFusionDims> steps_{};  // in the result, in bytes; 0: the axis is reduced
  std::array<Extent, kMaxFusionDims> at_{};
};

// Reduces each of `rows` rows to one element of `results`. False: the loop has set an exception.
[[nodiscard]] bool reduce_axis_rows(const ReductionKernel& kernel, Reduction reduction, const char* data, Extent stride,
                                    Extent row, Extent rows, char* results);
// Divides means by the elements of a row. False: the bits depend on the order of operations.
[[nodiscard]] bool finish_rows(const ReductionKernel& kernel, Reduction reduction, Extent row, Extent rows,
                               const MeanEnd& end, char* results);

}  // namespace tagalong::array
