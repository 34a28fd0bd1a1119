#include <algorithm>

#include "replay/arrays/fusion/binding.h"
#include "replay/arrays/numpy/elision.h"

namespace tagalong::array {
namespace {

// Whether the array lies in the order of C, perhaps with gaps, but not inside the rows that become one element. NumPy 1
// cuts such rows at its buffers.
bool has_plain_rows(const View& view, Extent item_size, const ReducedAxes& axes) {
  constexpr Extent kLongest = 1024;
  Extent inside = item_size;   // bytes of the inner axes
  Extent row = 1;              // elements that become one
  bool is_row_reduced = true;  // all inner axes are reduced
  bool was_reduced = false;    // the axis inside this one is
  for (int axis = view.shape.nd; axis-- > 0;) {
    const Extent extent = view.shape.dims[axis];
    if (extent == 1) {
      continue;
    }
    const bool is_reduced = axes.has(axis);
    is_row_reduced = is_row_reduced && is_reduced;
    row *= is_row_reduced ? extent : 1;
    if (view.strides[axis] < inside || (is_reduced && was_reduced && view.strides[axis] != inside) || row > kLongest) {
      return false;
    }
    inside = view.strides[axis] * extent;
    was_reduced = is_reduced;
  }
  return true;
}

}  // namespace

FusionReason LayoutBinding::bind() {
  space_.gathered.clear();
  space_.row = 0;
  if (space_.shape.nd == 0 || (plan_.nd != 0 && space_.shape.nd != plan_.nd)) {
    return FusionReason::kKinds;
  }
  count_ = space_.shape.count();
  if (count_ == 0) {
    return FusionReason::kLayout;
  }
  operands_.resize(plan_.slots);
  if (const FusionReason reason = bind_results(); reason != FusionReason::kNone) {
    return reason;
  }
  const auto is_reducible = [&](const PlanAxisReduction& axis_reduced) { return bind_reduced(axis_reduced); };
  if (plan_.reduces_inputs && !std::ranges::all_of(plan_.axis_reductions, is_reducible)) {
    return FusionReason::kLayout;
  }
  if (!bind_walk()) {
    return FusionReason::kLayout;
  }
  const bool may_elide = np_.elides && count_ * static_cast<Extent>(plan_.item_bytes) >= kMinElidedBytes;
  space_.is_bound = !may_elide;
  return FusionReason::kNone;
}

// --- The layout of each result as in eager execution, which decides the layout of later results

// The array operands of an operation.
struct LayoutBinding::Layouts {
  std::array<const Strides*, kMaxInputs> strides{};
  unsigned count = 0;
  bool are_c = true;  // all are contiguous in C order, or in Fortran order
  bool are_f = true;
  bool are_buffers = true;  // all are cast into buffers, which are contiguous
};

FusionReason LayoutBinding::bind_results() {
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const View& view = space_.inputs[i];
    const Extent item_size = np_.item_size[plan_.inputs[i].type];
    const bool is_plain = view.is_aligned && view.shape == space_.shape;
    input_strides_[i] = strides_in(view, space_.shape);
    operands_[plan_.inputs[i].slot] = {.strides = &input_strides_[i],
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

FusionReason LayoutBinding::bind_result(std::size_t number) {
  const PlanOperation& operation = plan_.operations[number];
  const bool is_column = operation.extent == OperationExtent::kColumn;
  const Shape shape = is_column ? plan_.column_shape(space_.shape, operation.drops_axes) : space_.shape;
  Layouts layouts;
  for (unsigned i = 0; i < operation.nin; ++i) {
    const Operand& operand = operands_[operation.slots[i]];
    if (operand.strides != nullptr) {
      layouts.strides[layouts.count++] = operand.strides;
      layouts.are_c = layouts.are_c && operand.is_c;
      layouts.are_f = layouts.are_f && operand.is_f;
      layouts.are_buffers = layouts.are_buffers && operand.is_buffered;
    }
  }
  Operand& result = operands_[operation.out()];
  // Blocks are contiguous, so eager's operands have to be, too.
  if (operation.follows_strides && !layouts.are_c && !layouts.are_f && !layouts.are_buffers) {
    return FusionReason::kLayout;
  }
  if (!operation.is_cast && !operation.has_result && !has_whole_shape(operation, shape)) {
    return FusionReason::kShape;
  }
  if (operation.layout_of >= 0) {
    result = operands_[static_cast<std::size_t>(operation.layout_of)];
    return FusionReason::kNone;
  }
  if (operation.is_cast && operation.target < 0) {
    // Cast while it is read, so NumPy uses its iterator.
    result = {.strides = layouts.strides[0], .is_buffered = true};
    return FusionReason::kNone;
  }
  Strides& strides = results_[operation.out()];
  result.strides = &strides;
  if (operation.target >= 0) {
    const View& view = space_.targets[static_cast<std::size_t>(operation.target)];
    strides = strides_in(view, shape);
    result.is_c = view.is_contiguous(operation.out_size, false);
    result.is_f = view.is_contiguous(operation.out_size, true);
    const bool is_contiguous = (layouts.are_c && result.is_c) || (layouts.are_f && result.is_f);
    return operation.follows_strides && !is_contiguous ? FusionReason::kLayout : FusionReason::kNone;
  }
  const FusionReason reason = operation.is_copy ? bind_copy(operation, shape, layouts, &strides)
                                                : bind_new_array(number, shape, layouts, &strides);
  const View view{.shape = shape, .strides = strides};
  result.is_c = view.is_contiguous(1, false);
  result.is_f = view.is_contiguous(1, true);
  return reason;
}

// Whether the operands, which are no results, have the shape of the result together.
bool LayoutBinding::has_whole_shape(const PlanOperation& operation, const Shape& shape) const {
  Shape operands;
  for (unsigned i = 0; i < operation.nin; ++i) {
    const int input = plan_.input_at(operation.slots[i]);
    if (input >= 0) {
      static_cast<void>(broadcast(space_.inputs[static_cast<std::size_t>(input)].shape, &operands));
    } else if (operands_[operation.slots[i]].is_broadcast) {
      static_cast<void>(broadcast(plan_.column_shape(shape, false), &operands));
    }
  }
  return operands == shape;
}

FusionReason LayoutBinding::bind_copy(const PlanOperation& operation, const Shape& shape, const Layouts& layouts,
                                      Strides* strides) const {
  const int input = plan_.input_at(operation.slots[0]);
  const Strides& own = input < 0 ? *layouts.strides[0] : space_.inputs[static_cast<std::size_t>(input)].strides;
  *strides = operation.is_c_copy              ? contiguous_strides(shape, 1, false)
             : layouts.are_c || layouts.are_f ? contiguous_strides(shape, 1, !layouts.are_c)
                                              : copied_strides(own, shape);
  return FusionReason::kNone;
}

FusionReason LayoutBinding::bind_new_array(std::size_t number, const Shape& shape, const Layouts& layouts,
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
  if (operation.is_row_major) {
    *strides = contiguous_strides(shape, 1, is_in_fortran_order(operation.slots[0]));
    return FusionReason::kNone;
  }
  const bool is_contiguous = shape.nd > 1 && !operation.is_iterated && (layouts.are_c || layouts.are_f);
  *strides = is_contiguous ? contiguous_strides(shape, 1, !layouts.are_c)
                           : result_strides({layouts.strides.data(), layouts.count}, shape, 1);
  return FusionReason::kNone;
}

// Whether the array is contiguous in Fortran order, and not in C order, too.
bool LayoutBinding::is_in_fortran_order(Slot slot) const {
  const int input = plan_.input_at(slot);
  if (input < 0) {
    return operands_[slot].is_f && !operands_[slot].is_c;
  }
  const auto number = static_cast<std::size_t>(input);
  const View& view = space_.inputs[number];
  const Extent item_size = np_.item_size[plan_.inputs[number].type];
  return view.is_contiguous(item_size, true) && !view.is_contiguous(item_size, false);
}

// The result is the operand's array itself, including its strides along axes of length one.
FusionReason LayoutBinding::bind_elided(const PlanOperation& operation, Slot operand, Strides* strides) const {
  const int input = plan_.input_at(operand);
  if (input < 0) {
    *strides = *operands_[operand].strides;
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
int LayoutBinding::elided_operand(const PlanOperation& operation) const {
  if (operation.elidable == 0 || !np_.elides || count_ * operation.out_size < kMinElidedBytes) {
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
      const Operand& operand = operands_[operation.slots[i]];
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
FusionReason LayoutBinding::bind_column(const PlanOperation& operation) {
  const Operand& operand = operands_[operation.slots[0]];
  Operand& result = operands_[operation.slots[1]];
  Strides& strides = results_[operation.slots[1]];
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
  space_.row = axis_reduction.row();
  strides = axis_reduction.strides();
  const View view{.shape = axis_reduction.shape(), .strides = strides};
  result = {.strides = &strides, .is_c = view.is_contiguous(1, false), .is_f = view.is_contiguous(1, true)};
  return FusionReason::kNone;
}

// Reduce loops may take existing arrays with other strides in another order than that of their elements. Where an array
// lies in the order of C with gaps, NumPy reduces it as if it had none. The rows that are reduced have no gaps, so they
// are not cut in another way.
bool LayoutBinding::bind_reduced(const PlanAxisReduction& axis_reduced) {
  Operand& operand = operands_[axis_reduced.slot];
  const int input = plan_.input_at(axis_reduced.slot);
  if (input < 0 || operand.is_c || operand.is_f) {
    return true;
  }
  const PlanInput& known = plan_.inputs[static_cast<std::size_t>(input)];
  const View& view = space_.inputs[static_cast<std::size_t>(input)];
  if (known.slot != axis_reduced.slot || !view.is_aligned || view.is_rolled || plan_.is_cut_by_rows() ||
      !(view.shape == space_.shape) || !has_plain_rows(view, np_.item_size[known.type], axis_reduced.axes)) {
    return false;
  }
  Strides& strides = results_[axis_reduced.slot];
  strides = contiguous_strides(view.shape, np_.item_size[known.type], false);
  operand.strides = &strides;
  return true;
}

// --- The order of the elements, and the arrays that are one row in that order

// False: the operand of a reduction is not one row. A reduced result would be one row of memory, and its elements are
// taken in that order.
bool LayoutBinding::bind_walk() {
  constexpr std::size_t kMostReduced = kMaxFusionReductions + kMaxAxisReductions;
  boost::container::static_vector<Strides, kMaxFusionInputs> walked_inputs;
  boost::container::static_vector<Starts, kMaxFusionInputs> walked_starts;
  boost::container::static_vector<Strides, kMostReduced> walked_reduced;
  boost::container::static_vector<Strides*, kMaxFusionInputs + 2 * kMaxFusionOutputs + kMostReduced> all;
  boost::container::static_vector<Starts*, kMaxFusionInputs> rolled;
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    all.push_back(&walked_inputs.emplace_back(input_strides_[i]));
    walked_starts.push_back(space_.inputs[i].starts);
    if (space_.inputs[i].is_rolled) {
      rolled.push_back(&walked_starts.back());
    }
  }
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    space_.target_strides[i] = space_.targets[i].strides;
    all.push_back(&space_.target_strides[i]);
  }
  for (const PlanReduction& reduced : plan_.reductions) {
    all.push_back(&walked_reduced.emplace_back(*operands_[reduced.slot].strides));
  }
  for (std::size_t i = 0; i < plan_.axis_reductions.size(); ++i) {
    space_.axis_strides[i] = *operands_[plan_.axis_reductions[i].slot].strides;
    all.push_back(&walked_reduced.emplace_back(space_.axis_strides[i]));
  }
  const Strides* leading = !plan_.targets.empty()           ? &space_.targets[0].strides
                           : !plan_.reductions.empty()      ? operands_[plan_.reductions[0].slot].strides
                           : !plan_.axis_reductions.empty() ? &space_.axis_strides[0]
                                                            : nullptr;
  for (std::size_t i = plan_.outputs.size(); i-- > 0;) {
    const PlanOutput& output = plan_.outputs[i];
    if (output.descr == nullptr) {
      continue;
    }
    Strides strides = *operands_[output.slot].strides;
    for (Extent& stride : strides) {
      stride *= output.item_size;
    }
    space_.output_strides[i] = strides;
    if (output.is_column) {
      continue;  // columns are written one element after another
    }
    space_.walked_outputs[i] = strides;
    leading = &space_.output_strides[i];
    all.push_back(&space_.walked_outputs[i]);
  }
  const Strides order = leading == nullptr ? input_strides_[0] : *leading;
  space_.walk.emplace(space_.shape, order, std::span(all.data(), all.size()), std::span(rolled.data(), rolled.size()));
  bind_inputs_to_walk({walked_inputs.data(), walked_inputs.size()}, {walked_starts.data(), walked_starts.size()});
  return std::ranges::all_of(walked_reduced,
                             [&](const Strides& strides) { return strides[0] >= 0 && space_.walk->is_row(strides); });
}

void LayoutBinding::bind_inputs_to_walk(std::span<const Strides> walked, std::span<const Starts> starts) {
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const PlanInput& input = plan_.inputs[i];
    const View& view = space_.inputs[i];
    if (space_.walk->is_row(walked[i]) && view.is_aligned && !view.is_rolled) {
      space_.row_strides[i] = walked[i][0];
      continue;
    }
    // The walk gives the address of each block; before the first block the array must not advance.
    space_.row_strides[i] = 0;
    space_.gathered.push_back({.strides = walked[i],
                               .slot = input.slot,
                               .item_size = np_.item_size[input.type],
                               .is_direct = view.is_aligned,
                               .is_rolled = view.is_rolled,
                               .starts = view.is_rolled ? starts[i] : Starts{},
                               .input = i});
  }
}

}  // namespace tagalong::array
