// Values between the array operations of a fusion group that need only reading and arithmetic.
#include <algorithm>

#include "replay/arrays/forming/group_planner.h"

namespace tagalong::replay {

bool FusionPlanner::refuse_value() {
  return refuse(group_->computed.size() == kMostValues ? Reason::kLimit : Reason::kOther);
}

// Values are read in front of the group, and contents of containers may change before the step.
int FusionPlanner::compute(const GroupValue& value) {
  return stores_.are_in_containers() && reads_containers(value, contents_.values()) ? -1 : contents_.compute(value);
}

std::optional<int> FusionPlanner::built_item(const Step& step, std::int32_t container, std::int32_t key) {
  const bool is_item = step.op == Op::tuple_item || step.op == Op::binary_subscr || step.op == Op::sequence_item;
  const int tuple = is_item ? contents_.of(container) : -1;
  if (tuple < 0 || contents_.at(tuple).kind != Kind::kTuple) {
    return std::nullopt;
  }
  Py_ssize_t index = step.immediate;
  if (step.op != Op::tuple_item) {
    PyObject* number = key < source_.constants ? source_.registers.objects[key] : nullptr;
    if (number == nullptr || !PyLong_CheckExact(number)) {
      return std::nullopt;
    }
    int overflow = 0;
    index = PyLong_AsLongAndOverflow(number, &overflow);
  }
  const std::vector<int>& parts = contents_.at(tuple).parts;
  const auto count = static_cast<Py_ssize_t>(parts.size());
  index += index < 0 ? count : 0;
  const int item = index >= 0 && index < count ? parts[static_cast<std::size_t>(index)] : -1;
  return item < 0 ? std::nullopt : std::optional(item);
}

bool FusionPlanner::calculate(const Step& step, const std::int32_t* operands) {
  const std::int32_t key = step.operand_count > 1 ? operands[1] : -1;
  if (const std::optional<int> item = step.operand_count > 0 ? built_item(step, operands[0], key) : std::nullopt) {
    contents_.state().registers[step.result] = *item;
    return true;
  }
  GroupValue value{.kind = GroupValue::Kind::kStep, .step = &step};
  for (int index = 0; index < step.operand_count; ++index) {
    bool is_known = false;
    value.operands.push_back(contents_.operand_of(operands[index], &is_known));
    if (!is_known) {
      return refuse(Reason::kOther);
    }
  }
  if (step.op == Op::load_attr) {
    if (const std::optional<int> known = stores_.attribute(step, value.operands.front())) {
      contents_.state().registers[step.result] = *known;
      return *known >= 0 || refuse(Reason::kOther);
    }
  }
  const bool is_dict_item =
      step.op == Op::binary_subscr && PyDict_CheckExact(contents_.values()[value.operands.front()].get());
  if (is_dict_item) {
    if (const std::optional<int> known = stores_.item(value.operands[0], value.operands[1])) {
      contents_.state().registers[step.result] = *known;
      return *known >= 0 || refuse(Reason::kOther);
    }
  }
  const int result = is_dict_item ? contents_.compute(value) : compute(value);
  if (result < 0) {
    return refuse_value();
  }
  contents_.state().registers[step.result] = contents_.of_value(result);
  return true;
}

// Of an array that the group makes, only the real and imaginary parts are known.
bool FusionPlanner::load_attribute_of(const Step& step, const std::int32_t* operands) {
  const Content* content = contents_.find(operands[0]);
  if (content == nullptr || content->kind != Kind::kResult) {
    return calculate(step, operands);
  }
  const auto is_named = [&](const char* name) { return PyUnicode_CompareWithASCIIString(step.object, name) == 0; };
  const bool is_imaginary = is_named("imag");
  return is_imaginary || is_named("real") ? take_component(step, operands[0], is_imaginary) : refuse(Reason::kOther);
}

// A tuple that the group has built, or one that exists.
bool FusionPlanner::unpack(const Step& step, const std::int32_t* operands) {
  const std::int32_t* results = operands + step.operand_count;
  const int sequence = contents_.of(operands[0]);
  if (sequence < 0) {
    return refuse(Reason::kOther);
  }
  if (contents_.at(sequence).kind == Kind::kTuple) {
    const std::vector<int>& parts = contents_.at(sequence).parts;
    if (parts.size() != step.result_count) {
      return refuse(Reason::kOther);
    }
    for (std::size_t index = 0; index < parts.size(); ++index) {
      contents_.state().registers[results[index]] = parts[index];
    }
    return true;
  }
  GroupValue item{.kind = GroupValue::Kind::kStep, .step = &step};
  item.operands.push_back(contents_.computed_of(operands[0]));
  for (; item.result < step.result_count; ++item.result) {
    const int value = item.operands.front() < 0 ? -1 : compute(item);
    if (value < 0) {
      return refuse_value();
    }
    contents_.state().registers[results[item.result]] = contents_.of_value(value);
  }
  return true;
}

bool FusionPlanner::is_held(std::int32_t place) {
  return contents_.is_held_elsewhere(place) || stores_.hold(contents_.of(place));
}

bool FusionPlanner::store_attribute(const Step& step, const std::int32_t* operands) {
  const int object = contents_.computed_of(operands[0]);
  return stores_.add(step, {.object = object, .content = contents_.of(operands[1])}) || refuse(Reason::kOther);
}

// dict[key] = value
bool FusionPlanner::store_item(const Step& step, const std::int32_t* operands) {
  const int object = contents_.computed_of(operands[0]);
  const int key = contents_.computed_of(operands[1]);
  return (key >= 0 && stores_.add(step, {.object = object, .content = contents_.of(operands[2]), .key = key})) ||
         refuse(Reason::kOther);
}

// list.append(value); the call's result is None.
bool FusionPlanner::append(const Step& step, const std::int32_t* operands) {
  const int object = contents_.computed_of(operands[1]);
  if (!stores_.add(step, {.object = object, .content = contents_.of(operands[2])})) {
    return refuse(Reason::kOther);
  }
  contents_.define(step.result, {.kind = Kind::kLoaded, .object = Py_None});
  return true;
}

// A method of an object, which comes with the object; or another attribute, behind a null.
bool FusionPlanner::load_method_of_object(const Step& step, const std::int32_t* operands) {
  const std::int32_t* results = operands + step.operand_count;
  GroupValue value{.kind = GroupValue::Kind::kStep, .step = &step};
  const int object = contents_.of(operands[0]);
  value.operands.push_back(contents_.computed_of(operands[0]));
  if (value.operands.back() < 0 || stores_.attribute(step, value.operands.back())) {
    return refuse(Reason::kOther);
  }
  if (const int method = compute(value); method >= 0) {
    contents_.state().registers[results[0]] = contents_.of_value(method);
    contents_.state().registers[results[1]] = object;
    return true;
  }
  value.result = 1;
  const int attribute = compute(value);
  if (attribute < 0) {
    return refuse(Reason::kOther);
  }
  contents_.define(results[0], {.kind = Kind::kLoaded});
  contents_.state().registers[results[1]] = contents_.of_value(attribute);
  return true;
}

int FusionPlanner::operand(std::int32_t place, LoopField field) {
  return field == LoopField::kObject ? contents_.computed_of(place) : contents_.unboxed_number(place);
}

bool FusionPlanner::set_unboxed(std::int32_t place, int value, Unboxed unboxed) {
  if (value < 0) {
    return refuse_value();
  }
  UnboxedRegister& changed = contents_.state().unboxed[place];
  changed.place = place;
  changed.number = value;
  changed.unboxed = unboxed;
  changed.is_changed = true;
  return true;
}

// Arithmetic that the group computes, or a number that is unboxed.
bool FusionPlanner::calculate(const LoopOp& op) {
  const LoopOpInfo& row = info(op.code);
  const bool is_unboxing = row.has(loop_trait::kUnboxes);
  GroupValue number{.kind = GroupValue::Kind::kOperation, .code = op.code, .unboxed = result_of(op)};
  number.operands.push_back(operand(op.left, row.left));
  if (row.right != LoopField::kUnused) {
    number.operands.push_back(operand(op.right, row.right));
  }
  const bool are_known = std::ranges::none_of(number.operands, [](int each) { return each < 0; });
  return set_unboxed(is_unboxing ? op.left : op.result, are_known ? compute(number) : -1, number.unboxed);
}

// What the operation's step gives for the same operands.
bool FusionPlanner::calculate(const LoopOp& op, const Step& step) {
  const LoopOpInfo& row = info(op.code);
  const Unboxed unboxed = row.result == LoopField::kNumber ? unboxed_of_items(op.flag)
                          : op.code == LoopCode::kCallFloat
                              ? source_.registers.kinds[static_cast<std::size_t>(op.result)]
                              : row.gives;
  if (row.result == LoopField::kMakesObject && row.right == LoopField::kInt) {
    if (const std::optional<int> item = built_item(step, op.left, op.right)) {
      contents_.state().registers[op.result] = *item;
      return true;
    }
  }
  GroupValue value{.kind = GroupValue::Kind::kStep, .unboxed = unboxed, .step = &step};
  value.operands.push_back(operand(op.left, row.left));
  if (row.right != LoopField::kUnused) {
    value.operands.push_back(operand(op.right, row.right));
  }
  const bool are_known = std::ranges::none_of(value.operands, [](int each) { return each < 0; });
  const int result = are_known ? compute(value) : -1;
  if (row.result != LoopField::kMakesObject) {
    return set_unboxed(op.result, result, unboxed);
  }
  if (result < 0) {
    return refuse_value();
  }
  contents_.state().registers[op.result] = contents_.of_value(result);
  return true;
}

// A comparison with the guard behind it, or a guard on a truth value.
bool FusionPlanner::guard_number(const LoopOp& op, const Step& step) {
  const LoopOpInfo& row = info(op.code);
  int truth = operand(op.left, row.left);
  if (truth >= 0 && op.code != LoopCode::kGuardBool) {
    const int right = operand(op.right, row.right);
    GroupValue comparison{.kind = GroupValue::Kind::kOperation, .code = op.code};
    comparison.operands = {truth, right};
    truth = right < 0 ? -1 : compute(comparison);
  }
  if (truth < 0) {
    return refuse(Reason::kGuard);
  }
  group_->guards.push_back({&step, -1, nullptr, truth});
  return true;
}

// A global variable that is bound to a number.
bool FusionPlanner::load_number(const LoopOp& op, const Step& step) {
  const PlannedGroup::Load load = global_of(step, op.left);
  if (load.value == nullptr || !load_holds(load, source_.registers.objects, contents_.values())) {
    return refuse(Reason::kNotLooked);
  }
  const Unboxed unboxed = info(op.code).gives;
  const int number = compute({.kind = GroupValue::Kind::kObject, .unboxed = unboxed, .object = load.value});
  if (number >= 0) {
    group_->loads.push_back(load);
    group_->numbers.push_back(Ref::create(load.value));
  }
  return set_unboxed(op.result, number, unboxed);
}

bool FusionPlanner::box(std::int32_t place) {
  if (contents_.unboxed_number(place) < 0) {
    return refuse(Reason::kOther);
  }
  contents_.state().unboxed[place].boxes = true;
  return true;
}

void FusionPlanner::clear(std::int32_t place) {
  if (!contents_.may_be_unboxed(place)) {
    contents_.drop(place);
    return;
  }
  UnboxedRegister& unboxed = contents_.state().unboxed[place];
  unboxed.place = place;
  unboxed.clears = true;
  unboxed.boxes = false;
}

bool FusionPlanner::sync_unboxed(const Step& step) {
  if (std::ranges::any_of(locals_, [&](const StoredLocal& local) { return have_same_target(*local.step, step); })) {
    return refuse(Reason::kOther);
  }
  group_->numeric_slots.emplace_back(static_cast<std::int32_t>(PyLong_AsLong(step.object)), step.immediate);
  return true;
}

}  // namespace tagalong::replay
