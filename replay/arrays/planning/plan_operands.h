// The objects that operations of a fusion group under construction refer to by numbers: external objects, constants,
// parts of arrays, and results. They get slots of the plan when a loop first needs them, perhaps after a cast.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/fusion_plan.h"

namespace tagalong::array {

struct LaneOperation;

void set_vector_operation(const LaneOperation& found, PlanOperation* operation);

class PlanOperands {
 public:
  struct Object {
    PyObject* object = nullptr;  // borrowed; null: a result
    OperandCode code = kForeign;
    bool is_constant = false;
    bool is_result = false;
    std::int16_t external = -1;
    std::int16_t view = -1;
    int slot = -1;    // of an array
    int target = -1;  // index in the plan's targets once it has been written
    std::int16_t reduction = -1;
    std::int16_t axis_reduction = -1;
    bool is_column = false;
    bool drops_axes = false;
    bool is_shared = false;  // of a result: a view of another new array
    // Of a result: the real or imaginary parts of another one; there is such a view of it.
    bool is_component = false;
    bool has_component = false;
    View place;  // of an external array, in this run
  };

  PlanOperands(const Numpy& np, FusionPlan* plan) : np_(np), plan_(*plan) {}

  // These functions are as in FusionPlanBuilder.
  int external(PyObject* object, unsigned number);
  int constant(PyObject* object);
  int view(ViewSpec spec, PyObject* object, PyObject* const* externals);

  [[nodiscard]] Object& at(int number) { return objects_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const Object& at(int number) const { return objects_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] std::span<const Object> all() const { return objects_; }
  int add(const Object& object);

  [[nodiscard]] bool is_array_object(int number) const;
  // Whether the operands of several axes are not one row of memory in the same order, so NumPy goes from row to row.
  [[nodiscard]] bool are_several_rows() const;
  [[nodiscard]] Shape shape_of(const Object& object) const;
  // The shape of all results that are not columns.
  [[nodiscard]] const Shape& space() const { return space_; }
  // Whether results have this shape, or no shape yet; take_space() decides it then.
  [[nodiscard]] bool may_take_space(const Shape& shape) const { return !has_space_ || shape == space_; }
  bool take_space(const Shape& shape);

  // The slot at which a loop with this operand type finds the object; negative: there is none.
  int slot_of(int number, unsigned type);
  // A cast of the slot to another type.
  int cast_slot(int slot, unsigned from, unsigned to, bool is_column = false);
  // The real or the imaginary parts of the slot's complex numbers.
  int component_slot(int slot, unsigned from, bool is_imaginary);
  // A column whose elements are repeated for whole rows.
  int broadcast_slot(int slot, unsigned type);
  int new_slot() { return plan_.slots < kMaxFusionSlots ? static_cast<int>(plan_.slots++) : -1; }
  // Makes the slot the object's new contents. False: there are too many such objects.
  bool write(Object* object, int slot);
  // Whether the object, which has not been written itself, shares memory with an array that has: its contents change
  // before an operation could read them.
  [[nodiscard]] bool is_changed(int number) const;

  // Why the last operation is not part of the fusion group.
  [[nodiscard]] FusionReason reason() const { return reason_; }
  int refuse(FusionReason reason) {
    reason_ = reason;
    return -1;
  }

 private:
  int scalar_slot(int number, unsigned type);

  const Numpy& np_;
  FusionPlan& plan_;
  std::vector<Object> objects_;
  std::map<std::pair<int, unsigned>, int> scalar_slots_;  // by object and operand type of the loop
  std::map<std::pair<int, unsigned>, int> cast_slots_;    // by slot and operand type of the loop
  std::map<std::pair<int, bool>, int> component_slots_;   // by slot, and whether they are the imaginary parts
  std::map<int, int> broadcast_slots_;                    // by slot
  Shape space_;
  bool has_space_ = false;
  FusionReason reason_ = FusionReason::kNone;
};

}  // namespace tagalong::array
