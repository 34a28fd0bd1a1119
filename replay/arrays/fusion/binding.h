// Binds the operands of a run to the slots of its plan: checks that they are of the planned kinds, and finds their
// memory and layouts.
#pragma once

#include <array>
#include <boost/container/static_vector.hpp>
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

// Operands of several shapes and layouts. What follows from the layouts is kept in the space: it is found again only
// where some layout differs from that of the run before.
class SpaceBinding {
 public:
  SpaceBinding(const FusionPlan& plan, const RunArguments& arguments, RunState* state, Space* space)
      : plan_(plan), np_(arguments.np), externals_(arguments.externals), state_(*state), space_(*space) {}

  // bind_rows() has bound the numbers.
  FusionReason bind();

 private:
  [[nodiscard]] const ArrayFields* array_of(const Space::Source& source) const;
  [[nodiscard]] bool has_same_sources() const;
  void move_views();
  FusionReason bind_sources();
  FusionReason bind_view(std::int16_t number, Space::Place* place, View* kept);
  FusionReason bind_views();
  FusionReason bind_target(std::size_t number);
  [[nodiscard]] bool has_overlaps() const;
  void place_inputs();

  const FusionPlan& plan_;
  const Numpy& np_;
  PyObject* const* externals_;
  RunState& state_;
  Space& space_;
};

// The layouts of a run over arrays of several shapes and layouts: the layout that eager execution would give each
// result, and the order in which elements are taken. They depend on the shapes and strides of the operands only, and on
// the references to them where arrays are so large that eager NumPy would compute into an operand.
class LayoutBinding {
 public:
  LayoutBinding(const FusionPlan& plan, const Numpy& np, PyObject* const* externals, RunState* state, Space* space)
      : plan_(plan), np_(np), externals_(externals), state_(*state), space_(*space) {}

  // The views of the space, and its shape, are bound.
  FusionReason bind();

 private:
  static constexpr int kUnknownElision = -2;
  struct Operand {
    const Strides* strides = nullptr;  // null: a scalar
    bool is_c = false, is_f = false;   // contiguous without broadcasting or casting
    bool is_broadcast = false;
    bool is_buffered = false;  // the iterator casts it
  };
  struct Layouts;
  FusionReason bind_results();
  FusionReason bind_result(std::size_t number);
  [[nodiscard]] bool has_whole_shape(const PlanOperation& operation, const Shape& shape) const;
  FusionReason bind_copy(const PlanOperation& operation, const Shape& shape, const Layouts& layouts,
                         Strides* strides) const;
  FusionReason bind_new_array(std::size_t number, const Shape& shape, const Layouts& layouts, Strides* strides);
  [[nodiscard]] bool bind_reduced(const PlanAxisReduction& axis_reduced);
  [[nodiscard]] bool is_in_fortran_order(Slot slot) const;
  FusionReason bind_elided(const PlanOperation& operation, Slot operand, Strides* strides) const;
  [[nodiscard]] int elided_operand(const PlanOperation& operation) const;
  FusionReason bind_column(const PlanOperation& operation);
  [[nodiscard]] bool bind_walk();
  void bind_inputs_to_walk(std::span<const Strides> walked, std::span<const Starts> starts);

  const FusionPlan& plan_;
  const Numpy& np_;
  PyObject* const* externals_;
  RunState& state_;
  Space& space_;
  Extent count_ = 0;
  boost::container::static_vector<Operand, kMaxFusionSlots> operands_;  // by slots
  // In bytes, and those of operations in elements.
  std::array<Strides, kMaxFusionInputs> input_strides_;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<Strides, kMaxFusionSlots> results_;         // NOLINT(cppcoreguidelines-pro-type-member-init)
};

}  // namespace tagalong::array
