// Binds the operands of a run to the slots of its plan: checks that they are of the planned kinds, and finds their
// memory and layouts.
#pragma once

#include <span>

#include "replay/arrays/fusion/run_state.h"

namespace tagalong::array {

// The numbers among the operands, as loops read them. False: an operand is of another kind than planned.
bool bind_numbers(const FusionPlan& plan, const Numpy& np, PyObject* const* externals, std::span<char*> data,
                  Scalars* scalars);

// The usual case: all arrays have one shape and are one row of memory each, in the same order. kLayout: SpaceBinding
// may still bind them.
FusionReason bind_rows(const FusionPlan& plan, const RunArguments& arguments, RunState* state);

// Binds the operands of reductions along axes, whose layouts are known, and makes the result arrays.
FusionReason bind_axis_reductions(const FusionPlan& plan, const Numpy& np, const RunState& state, const Space* space,
                                  AxisReductions* axis_reductions);

// Operands of several shapes and layouts: their common shape, the layout that eager execution would give each result,
// and the order in which elements are taken.
class SpaceBinding {
 public:
  SpaceBinding(const FusionPlan& plan, const RunArguments& arguments, RunState* state, Space* space)
      : plan_(plan), np_(arguments.np), externals_(arguments.externals), state_(*state), space_(*space) {}

  // bind_rows() has bound the numbers.
  FusionReason bind();

 private:
  static constexpr int kUnknownElision = -2;
  struct Layouts;
  FusionReason bind_view(std::uint16_t external, std::int16_t number, unsigned type, View* view) const;
  FusionReason bind_views();
  FusionReason bind_target(std::size_t number);
  FusionReason bind_layouts();
  FusionReason bind_result(std::size_t number);
  [[nodiscard]] bool has_whole_shape(const PlanOperation& operation, const Shape& shape) const;
  FusionReason bind_copy(const PlanOperation& operation, const Shape& shape, const Layouts& layouts,
                         Strides* strides) const;
  FusionReason bind_new_array(std::size_t number, const Shape& shape, const Layouts& layouts, Strides* strides);
  FusionReason bind_elided(const PlanOperation& operation, Slot operand, Strides* strides) const;
  [[nodiscard]] int elided_operand(const PlanOperation& operation) const;
  FusionReason bind_column(const PlanOperation& operation);
  void bind_walk();
  void bind_inputs_to_walk();

  const FusionPlan& plan_;
  const Numpy& np_;
  PyObject* const* externals_;
  RunState& state_;
  Space& space_;
};

}  // namespace tagalong::array
