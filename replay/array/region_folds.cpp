// Reductions along axes, as a part of a run.
#include <algorithm>

#include "replay/array/region_run.h"

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
    const Extent row = folded.kernel->is_pairwise ? fold.row() : 0;
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
    if (float_units_ != FloatUnits::kNone && float_status_raised(float_units_)) [[unlikely]] {
      frame->errors |= take_float_status(float_units_);
    }
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

bool RegionPlan::compute_rows(Frame* frame, Space* space) const {
  Folds& folds = *frame->folds;
  const Extent rows = std::max<Extent>(kBlock / folds.row, 1);
  for (Extent left = frame->count; left > 0;) {
    const Extent count = std::min(left, rows * folds.row);
    left -= count;
    if (count <= kBlock) {
      if (!compute_next(frame, space, count)) {
        return false;
      }
      continue;
    }
    std::array<Accumulator, kMaxRegionFolds> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (!compute_row(frame, space, count, sums.data())) {
      return false;
    }
    for (std::size_t i = 0; i < folds_.size(); ++i) {
      if (folds_[i].kernel->is_pairwise && folds.of[i].row() != 0) {
        folds.of[i].take_sum(*folds_[i].kernel, sums[i], count);
      }
    }
  }
  return true;
}

}  // namespace tagalong::array
