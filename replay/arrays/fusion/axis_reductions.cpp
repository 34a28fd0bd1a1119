// Reductions along axes in a run of a fusion group.
#include <algorithm>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/simd/broadcast.h"
#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {

// Binds the operands' layouts and makes the result arrays.
FusionReason FusionPlan::bind_axis_reductions(const Numpy& np, const Frame& frame, const Space* space,
                                              AxisReductions* axis_reductions) const {
  for (std::size_t i = 0; i < axis_reductions_.size(); ++i) {
    const AxisReduction& axis_reduced = axis_reductions_[i];
    AxisReducer& axis_reduction = axis_reductions->of[i];
    Shape shape;
    Strides strides{};
    if (space == nullptr) {
      shape.nd = frame.shape->nd;
      std::copy_n(frame.shape->dimensions, shape.nd, shape.dims.begin());
      strides = contiguous_strides(shape, 1, frame.order == kFContiguous);
    } else {
      shape = space->shape;
      strides = *space->operands[axis_reduced.slot].strides;
    }
    if (!axis_reduction.bind(shape, strides, axis_reduced.axes, axis_reduced.kernel->item_size)) {
      return FusionReason::kLayout;
    }
    const bool takes_rows = axis_reduced.kernel->takes_rows;
    const bool is_c =
        axis_reduction.strides() == contiguous_strides(axis_reduction.shape(), axis_reduced.kernel->item_size, false);
    if (takes_rows &&
        (axis_reduction.row() < 2 || axis_reduction.row() > kBlock || !axis_reduction.reduces_whole_rows() || !is_c)) {
      return FusionReason::kLayout;
    }
    // Which of two zeros is the extreme of a row depends on where the row is cut, so it is not cut.
    const bool depends_on_cuts = is_floating(axis_reduced.kernel->type) &&
                                 begins_with_element(axis_reduced.reduction) && axis_reduction.row() <= kBlock;
    const Extent row = axis_reduced.kernel->is_pairwise || takes_rows || depends_on_cuts ? axis_reduction.row() : 0;
    if (row != 0 && axis_reductions->row != 0 && row != axis_reductions->row) {
      return FusionReason::kReduction;
    }
    axis_reductions->row = std::max(axis_reductions->row, row);
    PyObject* descr = np.descr[axis_reduced.kernel->type];
    Py_INCREF(descr);
    axis_reductions->results[i] = Ref::steal(np.new_from_descr(np.array_type, descr, axis_reduction.shape().nd,
                                                               axis_reduction.shape().dims.data(),
                                                               axis_reduction.strides().data(), nullptr, 0, nullptr));
    if (!axis_reductions->results[i]) {
      PyErr_Clear();
      return FusionReason::kMemory;
    }
    axis_reduction.set_data(as_array(axis_reductions->results[i].get())->data);
    axis_reduction.begin(*axis_reduced.kernel, axis_reduced.reduction);
  }
  return FusionReason::kNone;
}

// Parts of a row that is longer than a block are summed separately; the reduction tree of the row adds them.
bool FusionPlan::reduce_axes_of_block(Frame* frame, Extent count) const {
  AxisReductions& axis_reductions = *frame->axis_reductions;
  for (std::size_t i = 0; i < axis_reductions_.size(); ++i) {
    const AxisReduction& axis_reduced = axis_reductions_[i];
    const ReductionKernel& kernel = *axis_reduced.kernel;
    frame->errors |= collect_float_status(float_units_);
    char* data = frame->data[axis_reduced.slot];
    const Extent stride = frame->strides[axis_reduced.slot];
    if (axis_reductions.row <= kBlock || !kernel.is_pairwise || axis_reductions.of[i].row() == 0) {
      if (!axis_reductions.of[i].take(kernel, axis_reduced.reduction, data, stride, count)) {
        return false;
      }
      continue;
    }
    begin_leaf(kernel, &axis_reductions.sums[i]);
    char* sum = axis_reductions.sums[i].bytes;
    const std::array<char*, 3> places{sum, data, sum};
    const std::array<Extent, 3> strides{0, stride, 0};
    if (kernel.loop(kernel.context, places.data(), &count, strides.data(), kernel.auxdata) != 0) {
      return false;
    }
  }
  return true;
}

// Computes a row in blocks as pairwise summation cuts it.
bool FusionPlan::compute_row(Frame* frame, Space* space, Extent count, Accumulator* sums) const {
  if (count <= kBlock) {
    if (!compute_next(frame, space, count)) {
      return false;
    }
    std::copy_n(frame->axis_reductions->sums.begin(), axis_reductions_.size(), sums);
    return true;
  }
  std::array<Accumulator, kMaxAxisReductions> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  if (!compute_row(frame, space, left_half(count), sums) ||
      !compute_row(frame, space, count - left_half(count), right.data())) {
    return false;
  }
  for (std::size_t i = 0; i < axis_reductions_.size(); ++i) {
    if (axis_reductions_[i].kernel->is_pairwise && frame->axis_reductions->of[i].row() != 0) {
      add_leaves(*axis_reductions_[i].kernel, right[i], &sums[i]);
    }
  }
  return true;
}

bool FusionPlan::compute_long_row(Frame* frame, Space* space, Extent row) const {
  AxisReductions& axis_reductions = *frame->axis_reductions;
  for (Extent left = row; left > 0;) {
    const Extent piece = std::min(left, frame->piece);
    std::array<Accumulator, kMaxAxisReductions> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (!compute_row(frame, space, piece, sums.data())) {
      return false;
    }
    for (std::size_t i = 0; i < axis_reductions_.size(); ++i) {
      if (axis_reductions_[i].kernel->is_pairwise && axis_reductions.of[i].row() != 0) {
        axis_reductions.of[i].take_sum(*axis_reductions_[i].kernel, sums[i], piece);
      }
    }
    left -= piece;
  }
  return true;
}

bool FusionPlan::compute_rows(Frame* frame, Space* space) const {
  AxisReductions& axis_reductions = *frame->axis_reductions;
  const Extent rows = std::max<Extent>(kBlock / axis_reductions.row, 1);
  const Extent found = axis_reductions.argmin == nullptr ? 0 : run_argmin(frame, space);
  for (Extent left = frame->count - found; left > 0;) {
    const Extent count = std::min(left, rows * axis_reductions.row);
    left -= count;
    if (count <= kBlock) {
      if (!compute_next(frame, space, count)) {
        return false;
      }
      continue;
    }
    if (!compute_long_row(frame, space, count)) {
      return false;
    }
  }
  return true;
}

// --- Operations that use columns

Shape FusionPlan::column_shape(const Shape& shape, bool drops_axes) const {
  Shape column;
  for (int axis = 0; axis < shape.nd; ++axis) {
    const bool is_reduced = axis_reductions_[0].axes.has(axis);
    if (!is_reduced || !drops_axes) {
      column.dims[column.nd++] = is_reduced ? 1 : shape.dims[axis];
    }
  }
  return column;
}

// The layout of a column in memory, or its strides as an operand beside larger arrays.
FusionReason FusionPlan::bind_column(const Operation& operation, Frame* frame, Space* space) const {
  const Space::Operand& operand = space->operands[operation.slots[0]];
  Space::Operand& result = space->operands[operation.slots[1]];
  Strides& strides = space->results[operation.slots[1]];
  if (operation.stage == Stage::kBroadcast) {
    strides = strides_in({.shape = column_shape(space->shape, false), .strides = *operand.strides}, space->shape);
    result = {.strides = &strides, .is_c = false, .is_f = false, .is_broadcast = true};
    return FusionReason::kNone;
  }
  AxisReducer axis_reduction;
  const ReducedAxes& axes = axis_reductions_[static_cast<std::size_t>(operation.axis_reduction)].axes;
  if (!axis_reduction.bind(space->shape, *operand.strides, axes, 1) || !axis_reduction.reduces_whole_rows() ||
      axis_reduction.row() < 2 || axis_reduction.row() > kMaxColumnRow) {
    return FusionReason::kKinds;  // without the operations that use the column it would be possible
  }
  frame->row = axis_reduction.row();
  strides = axis_reduction.strides();
  const View view{.shape = axis_reduction.shape(), .strides = strides};
  result = {.strides = &strides, .is_c = view.is_contiguous(1, false), .is_f = view.is_contiguous(1, true)};
  return FusionReason::kNone;
}

bool FusionPlan::compute_staged(const Operation& operation, Frame* frame, Extent count) const {
  const Extent row = frame->row;
  const Extent rows = count / row;
  const char* from = frame->data[operation.slots[0]];
  const Extent stride = frame->strides[operation.slots[0]];
  char* to = frame->data[operation.slots[1]];
  if (operation.stage == Stage::kBroadcast) {
    if (operation.out_size == kItemSize && broadcast(from, stride, row, rows, to)) {
      return true;
    }
    for (Extent i = 0; i < rows; ++i) {
      fill_row(from + i * stride, operation.out_size, row, to + i * row * operation.out_size);
    }
    return true;
  }
  const AxisReduction& axis_reduced = axis_reductions_[static_cast<std::size_t>(operation.axis_reduction)];
  frame->errors |= collect_float_status(float_units_);
  if (!reduce_axis_rows(*axis_reduced.kernel, axis_reduced.reduction, from, stride, row, rows, to)) {
    return false;
  }
  frame->is_refused |= !finish_rows(*axis_reduced.kernel, axis_reduced.reduction, row, rows, to);
  return true;
}

}  // namespace tagalong::array
