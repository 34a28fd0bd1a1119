#include <algorithm>

#include "replay/arrays/fusion/binding.h"

namespace tagalong::array {

FusionReason bind_axis_reductions(const FusionPlan& plan, const Numpy& np, const RunState& state, const Space* space,
                                  AxisReductions* axis_reductions) {
  for (std::size_t i = 0; i < plan.axis_reductions.size(); ++i) {
    const PlanAxisReduction& axis_reduced = plan.axis_reductions[i];
    AxisReducer& axis_reduction = axis_reductions->of[i];
    Shape shape;
    Strides strides{};
    if (space == nullptr) {
      shape.nd = state.shape->nd;
      std::copy_n(state.shape->dimensions, shape.nd, shape.dims.begin());
      strides = contiguous_strides(shape, 1, state.order == kFContiguous);
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

}  // namespace tagalong::array
