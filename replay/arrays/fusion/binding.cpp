// Checks whether operands are of the planned kinds, and where their memory is. This file has the usual case: arrays of
// one shape that are one row of memory each.
#include "replay/arrays/fusion/binding.h"

#include <algorithm>

#include "replay/arrays/numpy/elision.h"

namespace tagalong::array {

namespace {

bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  return one->nd == other->nd && std::equal(one->dimensions, one->dimensions + one->nd, other->dimensions);
}

// Where eager NumPy computes into its right operand it swaps the operands, which shows in the payloads of NaNs.
FusionReason bind_elision(const FusionPlan& plan, PyObject* const* externals, RunState* state) {
  for (std::size_t number = 0; number < plan.operations.size(); ++number) {
    const PlanOperation& operation = plan.operations[number];
    if (state->count * operation.out_size < kMinElidedBytes) {
      continue;
    }
    for (unsigned i = 0; i < 2; ++i) {
      if ((operation.elidable >> i & 1U) == 0) {
        continue;
      }
      if (operation.externals[i] >= 0) {
        PyObject* object = externals[operation.externals[i]];
        if (!may_be_elided(object)) {
          continue;
        }
        if (!is_unique(object) || state->strides[operation.slots[i]] != operation.out_size) {
          return FusionReason::kKinds;
        }
        if (!has_usual_strides(as_array(object), operation.out_size, state->order == kFContiguous)) {
          return FusionReason::kLayout;
        }
      }
      state->swapped[number] = i == 1;
      break;
    }
  }
  return FusionReason::kNone;
}

}  // namespace

bool bind_numbers(const FusionPlan& plan, const Numpy& np, PyObject* const* externals, std::span<char*> data,
                  Scalars* scalars) {
  for (std::size_t i = 0; i < plan.scalars.size(); ++i) {
    const PlanScalar& scalar = plan.scalars[i];
    PyObject* object = externals[scalar.external];
    char* place = (*scalars)[i].data();
    // An array without dimensions may be a part of a target that is written before it is read.
    if (!plan.targets.empty() && Py_TYPE(object) == np.array_type) {
      return false;
    }
    if (classify(np, object) != scalar.code || !read_scalar(np, object, scalar.code, scalar.type, place)) {
      return false;
    }
    data[scalar.slot] = place;
  }
  for (const PlanConstant& constant : plan.constants) {
    data[constant.slot] = const_cast<char*>(constant.bytes.data());
  }
  return true;
}

FusionReason bind_rows(const FusionPlan& plan, const RunArguments& arguments, RunState* state) {
  const auto& [np, externals, outputs] = arguments;
  for (const PlanScalar& scalar : plan.scalars) {
    state->strides[scalar.slot] = 0;
  }
  for (const PlanConstant& constant : plan.constants) {
    state->strides[constant.slot] = 0;
  }
  if (!bind_numbers(plan, np, externals, state->data, &state->scalars)) {
    return FusionReason::kKinds;
  }
  if (!plan.views.empty() || !plan.targets.empty() || plan.is_cut_by_rows()) {
    return FusionReason::kLayout;
  }
  for (const PlanInput& input : plan.inputs) {
    PyObject* object = externals[input.external];
    const ArrayFields* array = as_array(object);
    if (Py_TYPE(object) != np.array_type || array->descr != np.descr[input.type]) {
      return FusionReason::kKinds;
    }
    if ((array->flags & kAligned) == 0 || array->nd == 0) {
      return FusionReason::kLayout;
    }
    state->data[input.slot] = array->data;
    if (state->shape == nullptr) {
      state->shape = array;
    } else if (!same_shape(state->shape, array)) {
      return FusionReason::kLayout;
    }
    if (array->nd == 1) {
      state->strides[input.slot] = array->strides[0];
      if (plan.reduces_inputs && array->strides[0] != np.item_size[input.type]) {
        return FusionReason::kLayout;
      }
      continue;
    }
    const int order = array->flags & kOrders;
    if (order == 0 || (state->order != 0 && state->order != order)) {
      return FusionReason::kLayout;
    }
    state->order = order;
    state->strides[input.slot] = np.item_size[input.type];
  }
  if (state->shape == nullptr) {
    return FusionReason::kKinds;  // a fusion group contains an array
  }
  if (state->shape->nd > 1 && state->order == kFContiguous && plan.is_iterated) {
    return FusionReason::kLayout;  // NumPy's iterator gives other strides to axes of length one where operands are cast
  }
  for (int i = 0; i < state->shape->nd; ++i) {
    state->count *= state->shape->dimensions[i];
  }
  const bool may_elide = state->count * static_cast<Extent>(plan.item_bytes) >= kMinElidedBytes && np.elides;
  return may_elide ? bind_elision(plan, externals, state) : FusionReason::kNone;
}

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
      strides = space->axis_strides[i];
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
    const bool is_whole = needs_whole_rows(*axis_reduced.kernel, axis_reduced.reduction) &&
                          (axis_reduced.kernel->is_pairwise || axis_reduction.row() <= kBlock);
    const Extent row = is_whole ? axis_reduction.row() : 0;
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
