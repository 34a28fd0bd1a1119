// Operands of several shapes and layouts: their common shape, the layout that eager execution would give each result,
// and the order in which elements are taken.
#include <algorithm>

#include "replay/arrays/fusion/plan_run.h"

namespace tagalong::array {

// The memory of all arrays, and their common shape.
FusionReason FusionPlan::bind_views(const Numpy& np, PyObject* const* externals, Space* space) const {
  const auto place = [&](std::uint16_t external, std::int16_t number, unsigned type, View* view) {
    PyObject* object = externals[external];
    if (Py_TYPE(object) != np.array_type || as_array(object)->descr != np.descr[type] || as_array(object)->nd == 0) {
      return FusionReason::kKinds;
    }
    View whole;
    bool is_placed = view_of(as_array(object), &whole);
    if (number < 0) {
      *view = whole;
    } else {
      is_placed = is_placed && take_view(views_[static_cast<std::size_t>(number)], whole, externals, view);
    }
    return is_placed ? FusionReason::kNone : FusionReason::kLayout;
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const FusionReason reason = place(input.external, input.view, input.type, &space->inputs[i]);
    if (reason != FusionReason::kNone) {
      return reason;
    }
    if (!broadcast(space->inputs[i].shape, &space->shape)) {
      return FusionReason::kShape;
    }
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const Target& target = targets_[i];
    View& view = space->targets[i];
    const FusionReason reason = place(target.external, target.view, target.type, &view);
    if (reason != FusionReason::kNone) {
      return reason;
    }
    const int flags = as_array(externals[target.external])->flags;
    if ((flags & kWriteable) == 0 || (flags & kWarnOnWrite) != 0) {
      return FusionReason::kInPlace;
    }
    if (!(view.shape == space->shape)) {
      return FusionReason::kShape;
    }
    const Extent item_size = np.item_size[target.type];
    if (!view.is_aligned || !is_injective(view, item_size)) {
      return FusionReason::kLayout;
    }
    const Bytes written = bytes_of(view, item_size);
    for (std::size_t other = 0; other < inputs_.size(); ++other) {
      if ((target.later >> other & 1U) != 0 &&
          written.overlaps(bytes_of(space->inputs[other], np.item_size[inputs_[other].type]))) {
        return FusionReason::kOverlap;
      }
    }
    for (std::size_t other = 0; other < i; ++other) {
      if (written.overlaps(bytes_of(space->targets[other], np.item_size[targets_[other].type]))) {
        return FusionReason::kOverlap;
      }
    }
  }
  return FusionReason::kNone;
}

// The layout of each result as in eager execution, which decides the layout of later results.
FusionReason FusionPlan::bind_layouts(const Numpy& np, PyObject* const* externals, Frame* frame, Space* space) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Shape& shape = space->shape;
    const View& view = space->inputs[i];
    const Extent item_size = np.item_size[inputs_[i].type];
    const bool is_plain = view.is_aligned && view.shape == shape;
    space->input_strides[i] = strides_in(view, shape);
    space->operands[inputs_[i].slot] = {.strides = &space->input_strides[i],
                                        .is_c = is_plain && view.is_contiguous(item_size, false),
                                        .is_f = is_plain && view.is_contiguous(item_size, true)};
  }
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const Operation& operation = operations_[number];
    if (operation.stage == Stage::kAxisReduction || operation.stage == Stage::kBroadcast) {
      const FusionReason reason = is_staged_ ? bind_column(operation, frame, space) : FusionReason::kNone;
      if (reason != FusionReason::kNone) {
        return reason;
      }
      continue;
    }
    const bool is_column = operation.stage == Stage::kColumn;
    const Shape shape = is_column ? column_shape(space->shape, operation.drops_axes) : space->shape;
    std::array<const Strides*, kMaxInputs> operands{};
    unsigned count = 0;
    bool is_c = true;
    bool is_f = true;
    Shape operands_shape;
    for (unsigned i = 0; i < operation.nin; ++i) {
      const Space::Operand& operand = space->operands[operation.slots[i]];
      if (operand.strides != nullptr) {
        operands[count++] = operand.strides;
        is_c = is_c && operand.is_c;
        is_f = is_f && operand.is_f;
      }
    }
    Space::Operand& result = space->operands[operation.slots[operation.nin]];
    if (operation.is_cast) {
      result = {.strides = operands[0]};  // cast while it is read, so NumPy uses its iterator
      if (operation.layout_of >= 0) {
        result = space->operands[static_cast<std::size_t>(operation.layout_of)];
      }
      continue;
    }
    if (!operation.has_result) {
      for (unsigned i = 0; i < operation.nin; ++i) {
        const auto* input = input_of(operation.slots[i]);
        if (input != nullptr) {
          static_cast<void>(
              broadcast(space->inputs[static_cast<std::size_t>(input - inputs_.data())].shape, &operands_shape));
        } else if (space->operands[operation.slots[i]].is_broadcast) {
          static_cast<void>(broadcast(column_shape(shape, false), &operands_shape));
        }
      }
      if (!(operands_shape == shape)) {
        return FusionReason::kShape;  // the result is smaller than the iteration space
      }
    }
    if (operation.layout_of >= 0) {
      result = space->operands[static_cast<std::size_t>(operation.layout_of)];
      continue;
    }
    if (operation.target >= 0) {
      const View& view = space->targets[static_cast<std::size_t>(operation.target)];
      Strides& own = space->results[operation.slots[operation.nin]];
      own = strides_in(view, shape);
      result = {.strides = &own,
                .is_c = view.is_contiguous(operation.out_size, false),
                .is_f = view.is_contiguous(operation.out_size, true)};
      continue;
    }
    Strides& strides = space->results[operation.slots[operation.nin]];
    result.strides = &strides;
    if (operation.is_copy) {
      const Input* input = input_of(operation.slots[0]);
      const Strides& own =
          input == nullptr ? *operands[0] : space->inputs[static_cast<std::size_t>(input - inputs_.data())].strides;
      strides = is_c || is_f ? contiguous_strides(shape, 1, !is_c) : copied_strides(own, shape);
      const View copy{.shape = shape, .strides = strides};
      result.is_c = copy.is_contiguous(1, false);
      result.is_f = copy.is_contiguous(1, true);
      continue;
    }
    if (is_column && operation.elidable != 0 && shape.count() * operation.out_size >= kMinElidedBytes) {
      return FusionReason::kLayout;
    }
    const int into = is_column ? -1 : elided_operand(np, operation, externals, *frame, *space);
    if (into == kUnknownElision) {
      return FusionReason::kLayout;
    }
    if (into >= 0) {
      frame->swapped[number] = into == 1;
      // The result is the operand's array itself, including its strides along axes of length one.
      const Slot slot = operation.slots[static_cast<unsigned>(into)];
      const Input* input = input_of(slot);
      strides = input == nullptr ? *space->operands[slot].strides
                                 : space->inputs[static_cast<std::size_t>(input - inputs_.data())].strides;
      for (int axis = 0; axis < shape.nd && input != nullptr; ++axis) {
        if (strides[axis] % operation.out_size != 0) {
          return FusionReason::kLayout;
        }
        strides[axis] /= operation.out_size;
      }
    } else if (shape.nd > 1 && !operation.is_iterated && (is_c || is_f)) {
      strides = contiguous_strides(shape, 1, !is_c);
    } else {
      strides = result_strides({operands.data(), count}, shape, 1);
    }
    const View view{.shape = shape, .strides = strides};
    result.is_c = view.is_contiguous(1, false);
    result.is_f = view.is_contiguous(1, true);
  }
  return FusionReason::kNone;
}

const FusionPlan::Input* FusionPlan::input_of(Slot slot) const {
  for (const Input& input : inputs_) {
    if (input.slot == slot) {
      return &input;
    }
  }
  for (const Operation& operation : operations_) {
    if (operation.is_cast && operation.slots[1] == slot) {
      return input_of(operation.slots[0]);
    }
  }
  return nullptr;
}

// The operand into which eager NumPy would compute the result; -1: the result is a new array.
int FusionPlan::elided_operand(const Numpy& np, const Operation& operation, PyObject* const* externals,
                               const Frame& frame, const Space& space) const {
  if (operation.elidable == 0 || !np.elides || frame.count * operation.out_size < kMinElidedBytes) {
    return -1;
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
      const Space::Operand& operand = space.operands[operation.slots[i]];
      if (!is_unique(object) || (!operand.is_c && !operand.is_f)) {
        return kUnknownElision;
      }
    }
    const Input* other = operation.nin == 2 ? input_of(operation.slots[1 - i]) : nullptr;
    if (other != nullptr && !(space.inputs[static_cast<std::size_t>(other - inputs_.data())].shape == space.shape)) {
      continue;
    }
    return static_cast<int>(i);
  }
  return -1;
}

// Chooses the order of the elements, and finds the arrays that are one row in that order.
void FusionPlan::bind_walk(const Numpy& np, Frame* frame, Space* space) const {
  std::array<Strides*, kMaxFusionInputs + 2 * kMaxFusionOutputs + kMaxFusionReductions + kMaxAxisReductions> all{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    space->walked_inputs[i] = space->input_strides[i];
    all[count++] = &space->walked_inputs[i];
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    space->target_strides[i] = space->targets[i].strides;
    all[count++] = &space->target_strides[i];
  }
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    space->reduced_strides[i] = *space->operands[reductions_[i].slot].strides;
    all[count++] = &space->reduced_strides[i];
  }
  for (std::size_t i = 0; i < axis_reductions_.size(); ++i) {
    space->axis_strides[i] = *space->operands[axis_reductions_[i].slot].strides;
    all[count++] = &space->axis_strides[i];
  }
  const Strides* leading = !targets_.empty()           ? &space->targets[0].strides
                           : !reductions_.empty()      ? space->operands[reductions_[0].slot].strides
                           : !axis_reductions_.empty() ? space->operands[axis_reductions_[0].slot].strides
                                                       : nullptr;
  for (std::size_t i = outputs_.size(); i-- > 0;) {
    if (outputs_[i].descr == nullptr) {
      continue;
    }
    Strides strides = *space->operands[outputs_[i].slot].strides;
    for (Extent& stride : strides) {
      stride *= outputs_[i].item_size;
    }
    space->output_strides[i] = strides;
    if (outputs_[i].is_column) {
      continue;  // columns are written one element after another
    }
    space->walked_outputs[i] = strides;
    leading = &space->output_strides[i];
    all[count++] = &space->walked_outputs[i];
  }
  const Strides order = leading == nullptr ? space->input_strides[0] : *leading;
  space->walk.emplace(space->shape, order, std::span(all.data(), count));
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const Strides& strides = space->walked_inputs[i];
    if (space->walk->is_row(strides) && space->inputs[i].is_aligned) {
      frame->data[input.slot] = space->inputs[i].data;
      frame->strides[input.slot] = strides[0];
    } else {
      // The walk gives the address of each block; before the first block the array must not advance.
      frame->data[input.slot] = space->inputs[i].data;
      frame->strides[input.slot] = 0;
      space->gathered.push_back({.data = space->inputs[i].data,
                                 .strides = strides,
                                 .slot = input.slot,
                                 .item_size = np.item_size[input.type],
                                 .is_direct = space->inputs[i].is_aligned});
    }
  }
}

FusionReason FusionPlan::bind_space(const Numpy& np, PyObject* const* externals, Frame* frame, Space* space) const {
  FusionReason reason = bind_views(np, externals, space);
  if (reason != FusionReason::kNone) {
    return reason;
  }
  if (space->shape.nd == 0 || (nd_ != 0 && space->shape.nd != nd_)) {
    return FusionReason::kKinds;
  }
  frame->count = space->shape.count();
  if (frame->count == 0) {
    return FusionReason::kLayout;
  }
  reason = bind_layouts(np, externals, frame, space);
  if (reason != FusionReason::kNone) {
    return reason;
  }
  // Reduce loops may take arrays with other strides in another order.
  const auto is_reducible = [&](const AxisReduction& axis_reduced) {
    const Space::Operand& operand = space->operands[axis_reduced.slot];
    return input_of(axis_reduced.slot) == nullptr || operand.is_c || operand.is_f;
  };
  if (reduces_inputs_ && !std::ranges::all_of(axis_reductions_, is_reducible)) {
    return FusionReason::kLayout;
  }
  bind_walk(np, frame, space);
  // A reduced result would be one row of memory, and its elements are taken in that order.
  const auto is_row = [&](const Strides& strides) { return strides[0] >= 0 && space->walk->is_row(strides); };
  const bool are_rows =
      std::all_of(space->reduced_strides.begin(), space->reduced_strides.begin() + reductions_.size(), is_row) &&
      std::all_of(space->axis_strides.begin(), space->axis_strides.begin() + axis_reductions_.size(), is_row);
  return are_rows ? FusionReason::kNone : FusionReason::kLayout;
}

}  // namespace tagalong::array
