#include "replay/arrays/planning/plan_operands.h"

#include <algorithm>
#include <utility>

#include "replay/arrays/kernels/casts.h"
#include "replay/arrays/kernels/vector_operation.h"

namespace tagalong::array {

int PlanOperands::external(PyObject* object, unsigned number) {
  Object known{.object = object, .code = classify(np_, object), .external = static_cast<std::int16_t>(number)};
  if (is_array(known.code) && !view_of(as_array(object), &known.place)) {
    known.code = kForeign;
  }
  return add(known);
}

int PlanOperands::constant(PyObject* object) {
  const OperandCode code = classify(np_, object);
  if (!is_python_number(code)) {
    return -1;
  }
  return add({.object = object, .code = code, .is_constant = true});
}

int PlanOperands::view(ViewSpec spec, PyObject* object, PyObject* const* externals) {
  Object part{.object = object,
              .code = classify(np_, object),
              .external = static_cast<std::int16_t>(spec.external),
              .view = static_cast<std::int16_t>(plan_.views.size())};
  if (!is_array(part.code) || !take_view(spec, as_array(object), externals, &part.place)) {
    return refuse(FusionReason::kLayout);
  }
  plan_.views.push_back(std::move(spec));
  return add(part);
}

int PlanOperands::add(const Object& object) {
  objects_.push_back(object);
  return static_cast<int>(objects_.size()) - 1;
}

void set_vector_operation(const LaneOperation& found, PlanOperation* operation) {
  operation->vector_op = found.what;
  operation->lane_type = found.type;
  operation->is_complex = found.is_complex;
  operation->is_half = found.is_half;
}

bool PlanOperands::is_array_object(int number) const {
  const Object& known = at(number);
  return known.is_result || (known.object != nullptr && Py_TYPE(known.object) == np_.array_type);
}

bool PlanOperands::are_several_rows() const {
  bool are_c = true;
  bool are_f = true;
  for (const Object& object : objects_) {
    if (is_array(object.code) && !object.is_result && object.slot >= 0) {
      const bool is_whole = object.place.shape == space_;
      are_c = are_c && is_whole && object.place.is_contiguous(np_.item_size[object.code], false);
      are_f = are_f && is_whole && object.place.is_contiguous(np_.item_size[object.code], true);
    }
  }
  return space_.nd > 1 && !are_c && !are_f;
}

bool PlanOperands::write(Object* object, int slot) {
  if (object->external >= 0) {
    if (object->target < 0) {
      if (plan_.targets.size() == kMaxFusionOutputs) {
        return false;
      }
      object->target = static_cast<int>(plan_.targets.size());
      plan_.targets.push_back({.external = static_cast<std::uint16_t>(object->external),
                               .view = object->view,
                               .type = object->code,
                               .written = plan_.operations.size() - 1});
    }
    plan_.targets[static_cast<std::size_t>(object->target)].slot = static_cast<Slot>(slot);
  }
  object->slot = slot;
  return true;
}

bool PlanOperands::is_changed(int number) const {
  const Object& object = at(number);
  if (object.external < 0 || object.target >= 0 || !is_array(object.code) || plan_.targets.empty()) {
    return false;
  }
  return std::ranges::any_of(objects_, [&](const Object& other) {
    return other.target >= 0 &&
           overlap(other.place, np_.item_size[other.code], object.place, np_.item_size[object.code]);
  });
}

Shape PlanOperands::shape_of(const Object& object) const {
  if (object.is_column) {
    return plan_.column_shape(space_, object.drops_axes);
  }
  return object.is_result ? space_ : object.place.shape;
}

bool PlanOperands::take_space(const Shape& shape) {
  if (!may_take_space(shape)) {
    return false;
  }
  space_ = shape;
  has_space_ = true;
  return true;
}

int PlanOperands::scalar_slot(int number, unsigned type) {
  const Object& object = at(number);
  const auto [known, is_new] = scalar_slots_.emplace(std::pair{number, type}, -1);
  if (!is_new) {
    return known->second;
  }
  PlanConstant value{};
  if (!read_scalar(np_, object.object, object.code, type, value.bytes.data()) ||
      (!object.is_constant && plan_.scalars.size() == kMaxFusionScalars)) {
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
    plan_.constants.push_back(value);
  } else {
    plan_.scalars.push_back({.external = static_cast<std::uint16_t>(object.external),
                             .code = object.code,
                             .type = static_cast<std::uint8_t>(type),
                             .slot = value.slot});
  }
  return slot;
}

int PlanOperands::cast_slot(int slot, unsigned from, unsigned to, bool is_column) {
  // A complex number of another number has that number, converted, as its real part: there is vector code for each of
  // the two steps.
  const unsigned part = is_complex(to) ? component_type(to) : to;
  if (is_complex(to) && !is_complex(from) && from != part && cast_loop(from, part) != nullptr) {
    const int real = cast_slot(slot, from, part, is_column);
    return real < 0 ? real : cast_slot(real, part, to, is_column);
  }
  const auto [known, is_new] = cast_slots_.emplace(std::pair{slot, to}, -1);
  if (!is_new) {
    return known->second;
  }
  const StridedLoop loop = cast_loop(from, to);
  if (loop == nullptr || plan_.operations.size() == kMaxFusionOperations) {
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
    cast.extent = is_column ? OperationExtent::kColumn : OperationExtent::kElements;
    if (is_integer(from) && is_integer(to) && np_.item_size[from] == np_.item_size[to]) {
      cast.layout_of = static_cast<std::int16_t>(slot);  // two types for the same integers need no conversion
    }
    if (!is_column) {
      set_vector_operation(cast_operation(from, to, &cast.memory_type), &cast);
    }
    plan_.operations.push_back(cast);
    plan_.is_iterated = true;
    plan_.may_differ_alone = plan_.may_differ_alone || is_complex(to);
    plan_.float_units = std::max(plan_.float_units, cast_units(from, to));
  }
  return out;
}

// NumPy's iterator reads the view; like a cast it has no layout of its own.
int PlanOperands::component_slot(int slot, unsigned from, bool is_imaginary) {
  const auto [known, is_new] = component_slots_.emplace(std::pair{slot, is_imaginary}, -1);
  if (!is_new) {
    return known->second;
  }
  const int out = plan_.operations.size() == kMaxFusionOperations ? -1 : new_slot();
  if (out < 0) {
    component_slots_.erase(known);
    return -1;
  }
  known->second = out;
  const unsigned type = component_type(from);
  PlanOperation component{.loop = component_loop(from, is_imaginary),
                          .nin = 1,
                          .out_size = np_.item_size[type],
                          .keeps_flags = true,
                          .is_cast = true};
  set_vector_operation(lane_operation(is_imaginary ? VectorOp::kImaginary : VectorOp::kReal, from), &component);
  component.name = is_imaginary ? "imag" : "real";
  component.out_type = static_cast<std::uint8_t>(type);
  component.slots[0] = static_cast<Slot>(slot);
  component.slots[1] = static_cast<Slot>(out);
  plan_.operations.push_back(component);
  plan_.is_iterated = true;
  plan_.reads_components = true;
  return out;
}

int PlanOperands::broadcast_slot(int slot, unsigned type) {
  const auto [known, is_new] = broadcast_slots_.emplace(slot, -1);
  if (!is_new) {
    return known->second;
  }
  const int out = plan_.operations.size() == kMaxFusionOperations ? -1 : new_slot();
  if (out < 0) {
    broadcast_slots_.erase(known);
    return -1;
  }
  known->second = out;
  PlanOperation broadcast{
      .nin = 1, .out_size = np_.item_size[type], .keeps_flags = true, .extent = OperationExtent::kBroadcast};
  broadcast.name = "broadcast";
  broadcast.out_type = static_cast<std::uint8_t>(type);
  broadcast.slots[0] = static_cast<Slot>(slot);
  broadcast.slots[1] = static_cast<Slot>(out);
  plan_.operations.push_back(broadcast);
  return out;
}

int PlanOperands::slot_of(int number, unsigned type) {
  Object& object = at(number);
  if (!is_array(object.code)) {
    return scalar_slot(number, type);
  }
  if (object.slot < 0) {
    if (plan_.inputs.size() == kMaxFusionInputs || (object.slot = new_slot()) < 0) {
      return -1;
    }
    plan_.inputs.push_back({.external = static_cast<std::uint16_t>(object.external),
                            .view = object.view,
                            .type = object.code,
                            .slot = static_cast<Slot>(object.slot)});
  }
  return object.code == type ? object.slot : cast_slot(object.slot, object.code, type, object.is_column);
}

}  // namespace tagalong::array
