// Adds reductions to a plan.
#include <algorithm>

#include "replay/arrays/planning/plan_builder.h"

namespace tagalong::array {

// The reduced array may be an existing one as long as the group writes no targets; it has to be one row of memory.
bool FusionPlanBuilder::may_be_reduced(int operand) {
  Object& object = at(operand);
  if (object.is_result || object.target >= 0) {
    return !object.is_column && !object.is_component;
  }
  if (!is_array(object.code) || object.object == nullptr || object.view >= 0 || !plan_->targets.empty() ||
      object.place.shape.nd == 0 || !operands_.may_take_space(object.place.shape) ||
      operands_.slot_of(operand, object.code) < 0 || !operands_.take_space(object.place.shape)) {
    return false;
  }
  plan_->reduces_inputs = true;
  return true;
}

int FusionPlanBuilder::reduce(const ArrayVerb& verb) {
  return verb.axes ? reduce_along(verb) : verb.keeps_dims ? refuse(FusionReason::kOther) : reduce_all(verb);
}

// The slot from which the reduction reads its operand, perhaps a cast of it.
int FusionPlanBuilder::reduced_slot(const ReductionKernel& kernel, int operand) {
  const Object& object = at(operand);
  return object.code == kernel.from ? object.slot : operands_.cast_slot(object.slot, object.code, kernel.from);
}

// False: eager execution raises.
bool FusionPlanBuilder::read_axes(std::span<const int> axes, ReducedAxes* reduced) const {
  const int nd = operands_.space().nd;
  for (const int axis : axes) {
    const int place = axis < 0 ? axis + nd : axis;
    if (place < 0 || place >= nd || reduced->has(place)) {
      return false;
    }
    reduced->mask |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(place));
  }
  return true;
}

int FusionPlanBuilder::reduce_all(const ArrayVerb& verb) {
  const auto reduction = static_cast<Reduction>(verb.code);
  const int operand = verb.operands.front();
  const ReductionKernel& kernel = reduction_kernel(np_, reduction, at(operand).code);
  if (plan_->is_cut_by_rows() || kernel.takes_rows) {
    return refuse(FusionReason::kReduction);
  }
  if (kernel.loop == nullptr) {
    return refuse(FusionReason::kLoop);
  }
  if (!may_be_reduced(operand)) {
    return refuse(FusionReason::kOther);
  }
  const std::size_t before = plan_->operations.size();
  const int slot = reduced_slot(kernel, operand);
  if (slot < 0 || plan_->reductions.size() == kMaxFusionReductions) {
    plan_->operations.resize(before);
    return refuse(FusionReason::kLimit);
  }
  if (kernel.is_pairwise && plan_->is_tree() && plan_->sum_parts != kernel.parts) {
    plan_->operations.resize(before);
    return refuse(FusionReason::kReduction);
  }
  const auto needs_rows = [](const PlanAxisReduction& axis_reduction) {
    return needs_whole_rows(*axis_reduction.kernel, axis_reduction.reduction);
  };
  if (kernel.is_pairwise && std::ranges::any_of(plan_->axis_reductions, needs_rows)) {
    plan_->operations.resize(before);
    return refuse(FusionReason::kReduction);
  }
  const int result = operands_.add({.reduction = static_cast<std::int16_t>(plan_->reductions.size())});
  plan_->reductions.push_back(
      {.kernel = &kernel, .reduction = reduction, .slot = static_cast<Slot>(slot), .end = verb.end});
  if (kernel.is_pairwise) {
    plan_->cut = BlockCut::kAsSums;
    plan_->sum_parts = kernel.parts;
  }
  plan_->is_serial = plan_->is_serial || !kernel.is_pairwise;
  plan_->is_cut_by_buffers = plan_->is_cut_by_buffers || kernel.is_cut_by_buffers;
  plan_->float_units = std::max(plan_->float_units, kernel.float_units);
  ++plan_->calls;
  return result;
}

int FusionPlanBuilder::reduce_along(const ArrayVerb& verb) {
  const auto reduction = static_cast<Reduction>(verb.code);
  const int operand = verb.operands.front();
  const std::vector<int>& axes = *verb.axes;
  const bool keeps_dims = verb.keeps_dims;
  const ReductionKernel& kernel = reduction_kernel(np_, reduction, at(operand).code);
  if (kernel.loop == nullptr || axes.empty() || (kernel.takes_rows && keeps_dims)) {
    return refuse(FusionReason::kLoop);
  }
  if (!may_be_reduced(operand)) {
    return refuse(FusionReason::kOther);
  }
  ReducedAxes reduced{.keeps_dims = keeps_dims};
  if (!read_axes(axes, &reduced)) {
    return refuse(FusionReason::kShape);
  }
  if (static_cast<int>(axes.size()) == operands_.space().nd && !keeps_dims) {
    plan_->nd = operands_.space().nd;
    return reduce_all(verb);
  }
  if ((kernel.takes_rows && plan_->is_cut_by_rows()) || kernel.parts > 1 ||
      (needs_whole_rows(kernel, reduction) && plan_->is_tree()) ||  // blocks can be cut in one way only
      (plan_->is_cut_by_rows() && plan_->axis_reductions[0].axes.mask != reduced.mask)) {
    return refuse(FusionReason::kReduction);
  }
  const std::size_t before = plan_->operations.size();
  const int slot = reduced_slot(kernel, operand);
  const int column = slot < 0 ? -1 : operands_.new_slot();
  if (column < 0 || plan_->axis_reductions.size() == kMaxAxisReductions ||
      plan_->operations.size() >= kMaxFusionOperations) {
    plan_->operations.resize(before);
    return refuse(FusionReason::kLimit);
  }
  const auto number = static_cast<std::int16_t>(plan_->axis_reductions.size());
  PlanOperation axis_reduction{.nin = 1,
                               .out_size = kernel.item_size,
                               .extent = OperationExtent::kAxisReduction,
                               .drops_axes = !keeps_dims,
                               .axis_reduction = number};
  axis_reduction.name = reduction_name(reduction);
  axis_reduction.out_type = kernel.type;
  axis_reduction.slots[0] = static_cast<Slot>(slot);
  axis_reduction.slots[1] = static_cast<Slot>(column);
  plan_->operations.push_back(axis_reduction);
  const int result = operands_.add({.code = kernel.type,
                                    .is_result = true,
                                    .slot = column,
                                    .axis_reduction = number,
                                    .is_column = true,
                                    .drops_axes = !keeps_dims});
  plan_->axis_reductions.push_back(
      {.kernel = &kernel, .reduction = reduction, .axes = reduced, .slot = static_cast<Slot>(slot), .end = verb.end});
  plan_->nd = operands_.space().nd;
  plan_->is_cut_by_buffers = plan_->is_cut_by_buffers || kernel.is_cut_by_buffers;
  plan_->float_units = std::max(plan_->float_units, kernel.float_units);
  ++plan_->calls;
  return result;
}

// A column becomes an operand of later operations, so blocks are whole rows from now on.
bool FusionPlanBuilder::cut_by_rows() {
  if (plan_->is_cut_by_rows()) {
    return true;
  }
  const ReducedAxes& axes = plan_->axis_reductions[0].axes;
  Extent row = 1;
  bool is_c = true;  // the reduced axes are the last ones
  bool is_f = true;
  for (int axis = 0; axis < operands_.space().nd; ++axis) {
    row *= axes.has(axis) ? operands_.space().dims[axis] : 1;
    is_c = is_c && (axis == 0 || !axes.has(axis - 1) || axes.has(axis));
    is_f = is_f && (axis == 0 || axes.has(axis - 1) || !axes.has(axis));
  }
  for (const Object& object : operands_.all()) {
    if (object.slot >= 0 && !object.is_result && object.place.shape == operands_.space()) {
      is_c = is_c && object.place.is_contiguous(np_.item_size[object.code], false);
      is_f = is_f && object.place.is_contiguous(np_.item_size[object.code], true);
    }
  }
  const bool are_alike = std::ranges::all_of(plan_->axis_reductions, [&](const PlanAxisReduction& axis_reduction) {
    return axis_reduction.axes.mask == axes.mask && !axis_reduction.kernel->takes_rows;
  });
  if (row < 2 || row > kMaxColumnRow || (!is_c && !is_f) || !are_alike || !plan_->reductions.empty()) {
    return false;
  }
  plan_->cut = BlockCut::kWholeRows;
  return true;
}

}  // namespace tagalong::array
