// The operands of a fusion group's operations, and where their loops find them: arrays, numbers, casts, columns for
// whole rows.
#include <algorithm>
#include <utility>

#include "replay/arrays/fusion/plan_builder.h"
#include "replay/arrays/kernels/casts.h"

namespace tagalong::array {

int FusionPlanBuilder::external(PyObject* object, unsigned number) {
  Object known{.object = object, .code = classify(np_, object), .external = static_cast<std::int16_t>(number)};
  if (is_array(known.code) && !view_of(as_array(object), &known.place)) {
    known.code = kForeign;
  }
  objects_.push_back(known);
  return static_cast<int>(objects_.size()) - 1;
}

int FusionPlanBuilder::constant(PyObject* object) {
  const OperandCode code = classify(np_, object);
  if (!is_python_number(code)) {
    return -1;
  }
  objects_.push_back({.object = object, .code = code, .is_constant = true});
  return static_cast<int>(objects_.size()) - 1;
}

int FusionPlanBuilder::view(ViewSpec spec, PyObject* object, PyObject* const* externals) {
  Object part{.object = object,
              .code = classify(np_, object),
              .external = static_cast<std::int16_t>(spec.external),
              .view = static_cast<std::int16_t>(plan_->views.size())};
  if (!is_array(part.code) || !take_view(spec, as_array(object), externals, &part.place)) {
    return refuse(FusionReason::kLayout);
  }
  plan_->views.push_back(std::move(spec));
  objects_.push_back(part);
  return static_cast<int>(objects_.size()) - 1;
}

bool FusionPlanBuilder::is_array_object(int object) const {
  const Object& known = objects_[static_cast<std::size_t>(object)];
  return known.is_result || (known.object != nullptr && Py_TYPE(known.object) == np_.array_type);
}

// Whether the number takes the type of the arrays beside it.
bool FusionPlanBuilder::is_integer_number(int object, unsigned type) const {
  const OperandCode code = objects_[static_cast<std::size_t>(object)].code;
  const bool is_float = type == kFloat || type == kDouble;
  if (!np_.weak_scalars) {
    return code == kPyFloat && type == kDouble;  // whatever its value is
  }
  return (code == kPyInt && (is_integer(type) || is_float)) || (code == kPyFloat && is_float);
}

// Makes the slot the object's new contents.
bool FusionPlanBuilder::write(Object* object, int slot) {
  if (object->external >= 0) {
    if (object->target < 0) {
      if (plan_->targets.size() == kMaxFusionOutputs) {
        return false;
      }
      object->target = static_cast<int>(plan_->targets.size());
      plan_->targets.push_back({.external = static_cast<std::uint16_t>(object->external),
                                .view = object->view,
                                .type = object->code,
                                .written = plan_->operations.size() - 1});
    }
    plan_->targets[static_cast<std::size_t>(object->target)].slot = static_cast<Slot>(slot);
  }
  object->slot = slot;
  return true;
}

Shape FusionPlanBuilder::shape_of(const Object& object) const {
  if (object.is_column) {
    return plan_->column_shape(space_, object.drops_axes);
  }
  return object.is_result ? space_ : object.place.shape;
}

int FusionPlanBuilder::scalar_slot(int number, unsigned type) {
  const Object& object = at(number);
  const auto [known, is_new] = scalar_slots_.emplace(std::pair{number, type}, -1);
  if (!is_new) {
    return known->second;
  }
  PlanConstant value{};
  if (!read_scalar(np_, object.object, object.code, type, value.bytes.data()) ||
      (!object.is_constant && plan_->scalars.size() == kMaxFusionScalars)) {
    scalar_slots_.erase(known);
    reason_ = FusionReason::kNumber;
    return -1;
  }
  const int slot = known->second = new_slot();
  if (slot < 0) {
    return slot;
  }
  value.slot = static_cast<Slot>(slot);
  value.type = static_cast<std::uint8_t>(type);
  if (object.is_constant) {
    plan_->constants.push_back(value);
  } else {
    plan_->scalars.push_back({.external = static_cast<std::uint16_t>(object.external),
                              .code = object.code,
                              .type = static_cast<std::uint8_t>(type),
                              .slot = value.slot});
  }
  return slot;
}

int FusionPlanBuilder::cast_slot(int slot, unsigned from, unsigned to, bool is_column) {
  const auto [known, is_new] = cast_slots_.emplace(std::pair{slot, to}, -1);
  if (!is_new) {
    return known->second;
  }
  const StridedLoop loop = cast_loop(from, to);
  if (loop == nullptr || plan_->operations.size() == kMaxFusionOperations) {
    cast_slots_.erase(known);
    return -1;
  }
  const int out = known->second = new_slot();
  if (out >= 0) {
    PlanOperation cast{.loop = loop, .nin = 1, .out_size = np_.item_size[to], .keeps_flags = true, .is_cast = true};
    cast.name = "cast";
    cast.out_type = static_cast<std::uint8_t>(to);
    cast.slots[0] = static_cast<Slot>(slot);
    cast.slots[1] = static_cast<Slot>(out);
    cast.stage = is_column ? PlanStage::kColumn : PlanStage::kElements;
    if (is_integer(from) && is_integer(to) && np_.item_size[from] == np_.item_size[to]) {
      cast.layout_of = static_cast<std::int16_t>(slot);  // two types for the same integers need no conversion
    }
    plan_->operations.push_back(cast);
    plan_->is_iterated = true;
    if (is_floating(from)) {
      plan_->float_units = std::max(plan_->float_units, FloatUnits::kVector);
    }
  }
  return out;
}

// Repeats each element of a column for a whole row.
int FusionPlanBuilder::broadcast_slot(int slot, unsigned type) {
  const auto [known, is_new] = broadcast_slots_.emplace(slot, -1);
  if (!is_new) {
    return known->second;
  }
  const int out = plan_->operations.size() == kMaxFusionOperations ? -1 : new_slot();
  if (out < 0) {
    broadcast_slots_.erase(known);
    return -1;
  }
  known->second = out;
  PlanOperation broadcast{
      .nin = 1, .out_size = np_.item_size[type], .keeps_flags = true, .stage = PlanStage::kBroadcast};
  broadcast.name = "broadcast";
  broadcast.out_type = static_cast<std::uint8_t>(type);
  broadcast.slots[0] = static_cast<Slot>(slot);
  broadcast.slots[1] = static_cast<Slot>(out);
  plan_->operations.push_back(broadcast);
  return out;
}

// The slot at which a loop with this operand type finds the object.
int FusionPlanBuilder::slot_of(int number, unsigned type) {
  Object& object = at(number);
  if (!is_array(object.code)) {
    return scalar_slot(number, type);
  }
  if (object.slot < 0) {
    if (plan_->inputs.size() == kMaxFusionInputs || (object.slot = new_slot()) < 0) {
      return -1;
    }
    plan_->inputs.push_back({.external = static_cast<std::uint16_t>(object.external),
                             .view = object.view,
                             .type = object.code,
                             .slot = static_cast<Slot>(object.slot)});
  }
  return object.code == type ? object.slot : cast_slot(object.slot, object.code, type, object.is_column);
}

}  // namespace tagalong::array
