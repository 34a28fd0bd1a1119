#include <algorithm>

#include "replay/arrays/fusion/binding.h"
#include "replay/arrays/numpy/elision.h"

namespace tagalong::array {

FusionReason SpaceBinding::bind() {
  FusionReason reason = bind_views();
  if (reason != FusionReason::kNone) {
    return reason;
  }
  if (space_.shape.nd == 0 || (plan_.nd != 0 && space_.shape.nd != plan_.nd)) {
    return FusionReason::kKinds;
  }
  state_.count = space_.shape.count();
  if (state_.count == 0) {
    return FusionReason::kLayout;
  }
  reason = bind_layouts();
  if (reason != FusionReason::kNone) {
    return reason;
  }
  // Reduce loops may take arrays with other strides in another order.
  const auto is_reducible = [&](const PlanAxisReduction& axis_reduced) {
    const Space::Operand& operand = space_.operands[axis_reduced.slot];
    return plan_.input_at(axis_reduced.slot) < 0 || operand.is_c || operand.is_f;
  };
  if (plan_.reduces_inputs && !std::ranges::all_of(plan_.axis_reductions, is_reducible)) {
    return FusionReason::kLayout;
  }
  bind_walk();
  // A reduced result would be one row of memory, and its elements are taken in that order.
  const auto is_row = [&](const Strides& strides) { return strides[0] >= 0 && space_.walk->is_row(strides); };
  const bool are_rows =
      std::all_of(space_.reduced_strides.begin(), space_.reduced_strides.begin() + plan_.reductions.size(), is_row) &&
      std::all_of(space_.axis_strides.begin(), space_.axis_strides.begin() + plan_.axis_reductions.size(), is_row);
  return are_rows ? FusionReason::kNone : FusionReason::kLayout;
}

// --- The memory of all arrays, and their common shape

FusionReason SpaceBinding::bind_view(std::uint16_t external, std::int16_t number, unsigned type, View* view) const {
  PyObject* object = externals_[external];
  if (Py_TYPE(object) != np_.array_type || as_array(object)->descr != np_.descr[type] || as_array(object)->nd == 0) {
    return FusionReason::kKinds;
  }
  View whole;
  bool is_placed = view_of(as_array(object), &whole);
  if (number < 0) {
    *view = whole;
  } else {
    is_placed = is_placed && take_view(plan_.views[static_cast<std::size_t>(number)], whole, externals_, view);
  }
  return is_placed ? FusionReason::kNone : FusionReason::kLayout;
}

FusionReason SpaceBinding::bind_views() {
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const PlanInput& input = plan_.inputs[i];
    const FusionReason reason = bind_view(input.external, input.view, input.type, &space_.inputs[i]);
    if (reason != FusionReason::kNone) {
      return reason;
    }
    if (!broadcast(space_.inputs[i].shape, &space_.shape)) {
      return FusionReason::kShape;
    }
  }
  // A rolled array is copied as it is, and the copy has its shape.
  if (std::ranges::any_of(space_.inputs,
                          [&](const View& view) { return view.is_rolled && !(view.shape == space_.shape); })) {
    return FusionReason::kShape;
  }
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    if (const FusionReason reason = bind_target(i); reason != FusionReason::kNone) {
      return reason;
    }
  }
  return FusionReason::kNone;
}

FusionReason SpaceBinding::bind_target(std::size_t number) {
  const PlanTarget& target = plan_.targets[number];
  View& view = space_.targets[number];
  const FusionReason reason = bind_view(target.external, target.view, target.type, &view);
  if (reason != FusionReason::kNone) {
    return reason;
  }
  const int flags = as_array(externals_[target.external])->flags;
  if ((flags & kWriteable) == 0 || (flags & kWarnOnWrite) != 0) {
    return FusionReason::kInPlace;
  }
  if (!(view.shape == space_.shape)) {
    return FusionReason::kShape;
  }
  const Extent item_size = np_.item_size[target.type];
  if (!view.is_aligned || !is_injective(view, item_size)) {
    return FusionReason::kLayout;
  }
  for (std::size_t other = 0; other < plan_.inputs.size(); ++other) {
    if ((target.later >> other & 1U) != 0 &&
        overlap(view, item_size, space_.inputs[other], np_.item_size[plan_.inputs[other].type])) {
      return FusionReason::kOverlap;
    }
  }
  for (std::size_t other = 0; other < number; ++other) {
    if (overlap(view, item_size, space_.targets[other], np_.item_size[plan_.targets[other].type])) {
      return FusionReason::kOverlap;
    }
  }
  return FusionReason::kNone;
}

// --- The layout of each result as in eager execution, which decides the layout of later results

// The array operands of an operation.
struct SpaceBinding::Layouts {
  std::array<const Strides*, kMaxInputs> strides{};
  unsigned count = 0;
  bool are_c = true;  // all are contiguous in C order, or in Fortran order
  bool are_f = true;
};

FusionReason SpaceBinding::bind_layouts() {
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const View& view = space_.inputs[i];
    const Extent item_size = np_.item_size[plan_.inputs[i].type];
    const bool is_plain = view.is_aligned && view.shape == space_.shape;
    space_.input_strides[i] = strides_in(view, space_.shape);
    space_.operands[plan_.inputs[i].slot] = {.strides = &space_.input_strides[i],
                                             .is_c = is_plain && view.is_contiguous(item_size, false),
                                             .is_f = is_plain && view.is_contiguous(item_size, true)};
  }
  for (std::size_t number = 0; number < plan_.operations.size(); ++number) {
    const PlanOperation& operation = plan_.operations[number];
    const bool is_reduction =
        operation.extent == OperationExtent::kAxisReduction || operation.extent == OperationExtent::kBroadcast;
    const FusionReason reason = !is_reduction            ? bind_result(number)
                                : plan_.is_cut_by_rows() ? bind_column(operation)
                                                         : FusionReason::kNone;
    if (reason != FusionReason::kNone) {
      return reason;
    }
  }
  return FusionReason::kNone;
}

FusionReason SpaceBinding::bind_result(std::size_t number) {
  const PlanOperation& operation = plan_.operations[number];
  const bool is_column = operation.extent == OperationExtent::kColumn;
  const Shape shape = is_column ? plan_.column_shape(space_.shape, operation.drops_axes) : space_.shape;
  Layouts layouts;
  for (unsigned i = 0; i < operation.nin; ++i) {
    const Space::Operand& operand = space_.operands[operation.slots[i]];
    if (operand.strides != nullptr) {
      layouts.strides[layouts.count++] = operand.strides;
      layouts.are_c = layouts.are_c && operand.is_c;
      layouts.are_f = layouts.are_f && operand.is_f;
    }
  }
  Space::Operand& result = space_.operands[operation.out()];
  if (!operation.is_cast && !operation.has_result && !has_whole_shape(operation, shape)) {
    return FusionReason::kShape;
  }
  if (operation.layout_of >= 0) {
    result = space_.operands[static_cast<std::size_t>(operation.layout_of)];
    return FusionReason::kNone;
  }
  if (operation.is_cast && operation.target < 0) {
    result = {.strides = layouts.strides[0]};  // cast while it is read, so NumPy uses its iterator
    return FusionReason::kNone;
  }
  Strides& strides = space_.results[operation.out()];
  result.strides = &strides;
  if (operation.target >= 0) {
    const View& view = space_.targets[static_cast<std::size_t>(operation.target)];
    strides = strides_in(view, shape);
    result.is_c = view.is_contiguous(operation.out_size, false);
    result.is_f = view.is_contiguous(operation.out_size, true);
    return FusionReason::kNone;
  }
  const FusionReason reason = operation.is_copy ? bind_copy(operation, shape, layouts, &strides)
                                                : bind_new_array(number, shape, layouts, &strides);
  const View view{.shape = shape, .strides = strides};
  result.is_c = view.is_contiguous(1, false);
  result.is_f = view.is_contiguous(1, true);
  return reason;
}

// Whether the operands, which are no results, have the shape of the result together.
bool SpaceBinding::has_whole_shape(const PlanOperation& operation, const Shape& shape) const {
  Shape operands;
  for (unsigned i = 0; i < operation.nin; ++i) {
    const int input = plan_.input_at(operation.slots[i]);
    if (input >= 0) {
      static_cast<void>(broadcast(space_.inputs[static_cast<std::size_t>(input)].shape, &operands));
    } else if (space_.operands[operation.slots[i]].is_broadcast) {
      static_cast<void>(broadcast(plan_.column_shape(shape, false), &operands));
    }
  }
  return operands == shape;
}

FusionReason SpaceBinding::bind_copy(const PlanOperation& operation, const Shape& shape, const Layouts& layouts,
                                     Strides* strides) const {
  const int input = plan_.input_at(operation.slots[0]);
  const Strides& own = input < 0 ? *layouts.strides[0] : space_.inputs[static_cast<std::size_t>(input)].strides;
  *strides = layouts.are_c || layouts.are_f ? contiguous_strides(shape, 1, !layouts.are_c) : copied_strides(own, shape);
  return FusionReason::kNone;
}

FusionReason SpaceBinding::bind_new_array(std::size_t number, const Shape& shape, const Layouts& layouts,
                                          Strides* strides) {
  const PlanOperation& operation = plan_.operations[number];
  const bool is_column = operation.extent == OperationExtent::kColumn;
  if (is_column && operation.elidable != 0 && shape.count() * operation.out_size >= kMinElidedBytes) {
    return FusionReason::kLayout;
  }
  const int into = is_column ? -1 : elided_operand(operation);
  if (into == kUnknownElision) {
    return FusionReason::kLayout;
  }
  if (into >= 0) {
    state_.swapped[number] = into == 1;
    return bind_elided(operation, operation.slots[static_cast<unsigned>(into)], strides);
  }
  const bool is_contiguous = shape.nd > 1 && !operation.is_iterated && (layouts.are_c || layouts.are_f);
  *strides = is_contiguous ? contiguous_strides(shape, 1, !layouts.are_c)
                           : result_strides({layouts.strides.data(), layouts.count}, shape, 1);
  return FusionReason::kNone;
}

// The result is the operand's array itself, including its strides along axes of length one.
FusionReason SpaceBinding::bind_elided(const PlanOperation& operation, Slot operand, Strides* strides) const {
  const int input = plan_.input_at(operand);
  if (input < 0) {
    *strides = *space_.operands[operand].strides;
    return FusionReason::kNone;
  }
  *strides = space_.inputs[static_cast<std::size_t>(input)].strides;
  for (int axis = 0; axis < space_.shape.nd; ++axis) {
    if ((*strides)[axis] % operation.out_size != 0) {
      return FusionReason::kLayout;
    }
    (*strides)[axis] /= operation.out_size;
  }
  return FusionReason::kNone;
}

// The operand into which eager NumPy would compute the result; -1: the result is a new array.
int SpaceBinding::elided_operand(const PlanOperation& operation) const {
  if (operation.elidable == 0 || !np_.elides || state_.count * operation.out_size < kMinElidedBytes) {
    return -1;
  }
  for (unsigned i = 0; i < 2; ++i) {
    if ((operation.elidable >> i & 1U) == 0) {
      continue;
    }
    if (operation.externals[i] >= 0) {
      PyObject* object = externals_[operation.externals[i]];
      if (!may_be_elided(object)) {
        continue;
      }
      const Space::Operand& operand = space_.operands[operation.slots[i]];
      if (!is_unique(object) || (!operand.is_c && !operand.is_f)) {
        return kUnknownElision;
      }
    }
    const int other = operation.nin == 2 ? plan_.input_at(operation.slots[1 - i]) : -1;
    if (other >= 0 && !(space_.inputs[static_cast<std::size_t>(other)].shape == space_.shape)) {
      continue;
    }
    return static_cast<int>(i);
  }
  return -1;
}

// The layout of a column in memory, or its strides as an operand beside larger arrays.
FusionReason SpaceBinding::bind_column(const PlanOperation& operation) {
  const Space::Operand& operand = space_.operands[operation.slots[0]];
  Space::Operand& result = space_.operands[operation.slots[1]];
  Strides& strides = space_.results[operation.slots[1]];
  if (operation.extent == OperationExtent::kBroadcast) {
    const View column{.shape = plan_.column_shape(space_.shape, false), .strides = *operand.strides};
    strides = strides_in(column, space_.shape);
    result = {.strides = &strides, .is_c = false, .is_f = false, .is_broadcast = true};
    return FusionReason::kNone;
  }
  AxisReducer axis_reduction;
  const ReducedAxes& axes = plan_.axis_reductions[static_cast<std::size_t>(operation.axis_reduction)].axes;
  if (!axis_reduction.bind(space_.shape, *operand.strides, axes, 1) || !axis_reduction.reduces_whole_rows() ||
      axis_reduction.row() < 2 || axis_reduction.row() > kMaxColumnRow) {
    return FusionReason::kKinds;  // without the operations that use the column it would be possible
  }
  state_.row = axis_reduction.row();
  strides = axis_reduction.strides();
  const View view{.shape = axis_reduction.shape(), .strides = strides};
  result = {.strides = &strides, .is_c = view.is_contiguous(1, false), .is_f = view.is_contiguous(1, true)};
  return FusionReason::kNone;
}

// --- The order of the elements, and the arrays that are one row in that order

void SpaceBinding::bind_walk() {
  std::array<Strides*, kMaxFusionInputs + 2 * kMaxFusionOutputs + kMaxFusionReductions + kMaxAxisReductions>
      all;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::size_t count = 0;
  boost::container::static_vector<Starts*, kMaxFusionInputs> rolled;
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    space_.walked_inputs[i] = space_.input_strides[i];
    all[count++] = &space_.walked_inputs[i];
    if (space_.inputs[i].is_rolled) {
      space_.walked_starts[i] = space_.inputs[i].starts;
      rolled.push_back(&space_.walked_starts[i]);
    }
  }
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    space_.target_strides[i] = space_.targets[i].strides;
    all[count++] = &space_.target_strides[i];
  }
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    space_.reduced_strides[i] = *space_.operands[plan_.reductions[i].slot].strides;
    all[count++] = &space_.reduced_strides[i];
  }
  for (std::size_t i = 0; i < plan_.axis_reductions.size(); ++i) {
    space_.axis_strides[i] = *space_.operands[plan_.axis_reductions[i].slot].strides;
    all[count++] = &space_.axis_strides[i];
  }
  const Strides* leading = !plan_.targets.empty()           ? &space_.targets[0].strides
                           : !plan_.reductions.empty()      ? space_.operands[plan_.reductions[0].slot].strides
                           : !plan_.axis_reductions.empty() ? space_.operands[plan_.axis_reductions[0].slot].strides
                                                            : nullptr;
  for (std::size_t i = plan_.outputs.size(); i-- > 0;) {
    const PlanOutput& output = plan_.outputs[i];
    if (output.descr == nullptr) {
      continue;
    }
    Strides strides = *space_.operands[output.slot].strides;
    for (Extent& stride : strides) {
      stride *= output.item_size;
    }
    space_.output_strides[i] = strides;
    if (output.is_column) {
      continue;  // columns are written one element after another
    }
    space_.walked_outputs[i] = strides;
    leading = &space_.output_strides[i];
    all[count++] = &space_.walked_outputs[i];
  }
  const Strides order = leading == nullptr ? space_.input_strides[0] : *leading;
  space_.walk.emplace(space_.shape, order, std::span(all.data(), count), std::span(rolled.data(), rolled.size()));
  bind_inputs_to_walk();
}

void SpaceBinding::bind_inputs_to_walk() {
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const PlanInput& input = plan_.inputs[i];
    const Strides& strides = space_.walked_inputs[i];
    const bool is_rolled = space_.inputs[i].is_rolled;
    state_.data[input.slot] = space_.inputs[i].data;
    if (space_.walk->is_row(strides) && space_.inputs[i].is_aligned && !is_rolled) {
      state_.strides[input.slot] = strides[0];
      continue;
    }
    // The walk gives the address of each block; before the first block the array must not advance.
    state_.strides[input.slot] = 0;
    space_.gathered.push_back({.data = space_.inputs[i].data,
                               .strides = strides,
                               .slot = input.slot,
                               .item_size = np_.item_size[input.type],
                               .is_direct = space_.inputs[i].is_aligned,
                               .is_rolled = is_rolled,
                               .starts = is_rolled ? space_.walked_starts[i] : Starts{}});
  }
}

}  // namespace tagalong::array
