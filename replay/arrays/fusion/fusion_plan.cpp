#include "replay/arrays/fusion/fusion_plan.h"

#include <algorithm>

namespace tagalong::array {

int fusion_enabled = 0;
FusionCounts fusion_counts;

int FusionPlan::input_at(Slot slot) const {
  const auto input = std::ranges::find(inputs, slot, &PlanInput::slot);
  if (input != inputs.end()) {
    return static_cast<int>(input - inputs.begin());
  }
  const auto is_cast = [=](const PlanOperation& operation) { return operation.is_cast && operation.slots[1] == slot; };
  const auto cast = std::ranges::find_if(operations, is_cast);
  return cast == operations.end() ? -1 : input_at(cast->slots[0]);
}

Shape FusionPlan::column_shape(const Shape& shape, bool drops_axes) const {
  Shape column;
  for (int axis = 0; axis < shape.nd; ++axis) {
    const bool is_reduced = axis_reductions[0].axes.has(axis);
    if (!is_reduced || !drops_axes) {
      column.dims[column.nd++] = is_reduced ? 1 : shape.dims[axis];
    }
  }
  return column;
}

}  // namespace tagalong::array
