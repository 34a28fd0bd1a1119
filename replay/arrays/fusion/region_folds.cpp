// Reductions along axes, as a part of a run.
#include <algorithm>

#include "replay/arrays/fusion/region_run.h"
#include "replay/arrays/simd/pairwise.h"
#include "replay/arrays/simd/spreading.h"

namespace tagalong::array {

// How the operands lie, and new arrays for the results.
RegionReason RegionPlan::bind_folds(const Numpy& np, const Frame& frame, const Space* space, Folds* folds) const {
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    const Folded& folded = folds_[i];
    Fold& fold = folds->of[i];
    Shape shape;
    Strides strides{};
    if (space == nullptr) {
      shape.nd = frame.shape->nd;
      std::copy_n(frame.shape->dimensions, shape.nd, shape.dims.begin());
      strides = contiguous_strides(shape, 1, frame.order == kFContiguous);
    } else {
      shape = space->shape;
      strides = *space->operands[folded.slot].strides;
    }
    if (!fold.bind(shape, strides, folded.axes, folded.kernel->item_size)) {
      return RegionReason::kLayout;
    }
    const bool takes_rows = folded.kernel->takes_rows;
    const bool is_c = fold.strides() == contiguous_strides(fold.shape(), folded.kernel->item_size, false);
    if (takes_rows && (fold.row() < 2 || fold.row() > kBlock || !fold.is_of_rows() || !is_c)) {
      return RegionReason::kLayout;
    }
    // Which of two zeros an extreme is depends on where its row is cut, so it is not.
    const bool tells_zeros =
        is_floating(folded.kernel->type) && begins_with_element(folded.reduction) && fold.row() <= kBlock;
    const Extent row = folded.kernel->is_pairwise || takes_rows || tells_zeros ? fold.row() : 0;
    if (row != 0 && folds->row != 0 && row != folds->row) {
      return RegionReason::kReduction;
    }
    folds->row = std::max(folds->row, row);
    PyObject* descr = np.descr[folded.kernel->type];
    Py_INCREF(descr);
    folds->results[i] = Ref::steal(np.new_from_descr(np.array_type, descr, fold.shape().nd, fold.shape().dims.data(),
                                                     fold.strides().data(), nullptr, 0, nullptr));
    if (!folds->results[i]) {
      PyErr_Clear();
      return RegionReason::kMemory;
    }
    fold.place(as_array(folds->results[i].get())->data);
    fold.begin(*folded.kernel, folded.reduction);
  }
  return RegionReason::kNone;
}

// Parts of a row that is longer than a block are summed on their own: the tree of the row adds them.
bool RegionPlan::fold_block(Frame* frame, Extent count) const {
  Folds& folds = *frame->folds;
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    const Folded& folded = folds_[i];
    const ReductionKernel& kernel = *folded.kernel;
    frame->errors |= collect_float_status(float_units_);
    char* data = frame->data[folded.slot];
    const Extent stride = frame->strides[folded.slot];
    if (folds.row <= kBlock || !kernel.is_pairwise || folds.of[i].row() == 0) {
      if (!folds.of[i].take(kernel, folded.reduction, data, stride, count)) {
        return false;
      }
      continue;
    }
    begin_leaf(kernel, &folds.sums[i]);
    char* sum = folds.sums[i].bytes;
    const std::array<char*, 3> places{sum, data, sum};
    const std::array<Extent, 3> strides{0, stride, 0};
    if (kernel.loop(kernel.context, places.data(), &count, strides.data(), kernel.auxdata) != 0) {
      return false;
    }
  }
  return true;
}

// Blocks as pairwise summation cuts a row.
bool RegionPlan::compute_row(Frame* frame, Space* space, Extent count, Accumulator* sums) const {
  if (count <= kBlock) {
    if (!compute_next(frame, space, count)) {
      return false;
    }
    std::copy_n(frame->folds->sums.begin(), folds_.size(), sums);
    return true;
  }
  std::array<Accumulator, kMaxRegionFolds> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  if (!compute_row(frame, space, left_half(count), sums) ||
      !compute_row(frame, space, count - left_half(count), right.data())) {
    return false;
  }
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    if (folds_[i].kernel->is_pairwise && frame->folds->of[i].row() != 0) {
      add_leaves(*folds_[i].kernel, right[i], &sums[i]);
    }
  }
  return true;
}

bool RegionPlan::compute_long_row(Frame* frame, Space* space, Extent row) const {
  Folds& folds = *frame->folds;
  for (Extent left = row; left > 0;) {
    const Extent piece = std::min(left, frame->piece);
    std::array<Accumulator, kMaxRegionFolds> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (!compute_row(frame, space, piece, sums.data())) {
      return false;
    }
    for (std::size_t i = 0; i < folds_.size(); ++i) {
      if (folds_[i].kernel->is_pairwise && folds.of[i].row() != 0) {
        folds.of[i].take_sum(*folds_[i].kernel, sums[i], piece);
      }
    }
    left -= piece;
  }
  return true;
}

bool RegionPlan::compute_rows(Frame* frame, Space* space) const {
  Folds& folds = *frame->folds;
  const Extent rows = std::max<Extent>(kBlock / folds.row, 1);
  const Extent found = folds.finding == nullptr ? 0 : find_places(frame, space);
  for (Extent left = frame->count - found; left > 0;) {
    const Extent count = std::min(left, rows * folds.row);
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

// --- where other operations take part of what reductions give

Shape RegionPlan::column_shape(const Shape& shape, bool drops_axes) const {
  Shape column;
  for (int axis = 0; axis < shape.nd; ++axis) {
    const bool is_reduced = folds_[0].axes.has(axis);
    if (!is_reduced || !drops_axes) {
      column.dims[column.nd++] = is_reduced ? 1 : shape.dims[axis];
    }
  }
  return column;
}

// How a column lies in memory, or how it is seen where it is an operand beside larger ones.
RegionReason RegionPlan::bind_column(const Operation& operation, Frame* frame, Space* space) const {
  const Space::Operand& operand = space->operands[operation.slots[0]];
  Space::Operand& result = space->operands[operation.slots[1]];
  Strides& strides = space->results[operation.slots[1]];
  if (operation.stage == Stage::kSpread) {
    strides = strides_in({.shape = column_shape(space->shape, false), .strides = *operand.strides}, space->shape);
    result = {.strides = &strides, .is_c = false, .is_f = false, .is_spread = true};
    return RegionReason::kNone;
  }
  Fold fold;
  const FoldAxes& axes = folds_[static_cast<std::size_t>(operation.fold)].axes;
  if (!fold.bind(space->shape, *operand.strides, axes, 1) || !fold.is_of_rows() || fold.row() < 2 ||
      fold.row() > kMostRow) {
    return RegionReason::kKinds;  // without what follows it would do
  }
  frame->row = fold.row();
  strides = fold.strides();
  const View view{.shape = fold.shape(), .strides = strides};
  result = {.strides = &strides, .is_c = view.is_contiguous(1, false), .is_f = view.is_contiguous(1, true)};
  return RegionReason::kNone;
}

bool RegionPlan::compute_staged(const Operation& operation, Frame* frame, Extent count) const {
  const Extent row = frame->row;
  const Extent rows = count / row;
  const char* from = frame->data[operation.slots[0]];
  const Extent stride = frame->strides[operation.slots[0]];
  char* to = frame->data[operation.slots[1]];
  if (operation.stage == Stage::kSpread) {
    if (operation.out_size == kItemSize && spread(from, stride, row, rows, to)) {
      return true;
    }
    for (Extent i = 0; i < rows; ++i) {
      fill_row(from + i * stride, operation.out_size, row, to + i * row * operation.out_size);
    }
    return true;
  }
  const Folded& folded = folds_[static_cast<std::size_t>(operation.fold)];
  frame->errors |= collect_float_status(float_units_);
  if (!fold_rows(*folded.kernel, folded.reduction, from, stride, row, rows, to)) {
    return false;
  }
  frame->is_refused |= !finish_rows(*folded.kernel, folded.reduction, row, rows, to);
  return true;
}

}  // namespace tagalong::array
