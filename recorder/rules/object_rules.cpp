// Rules: calls, functions, containers, imports, matching, with.
#include "recorder/rules/object_rules.h"

#include <algorithm>
#include <ranges>

#include "recorder/base/call_slots.h"
#include "recorder/base/hints.h"
#include "rewriter/base/errors.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoValue;

void ObjectRules::call(const Instruction& instruction) {
  const int operands = operands_of_call(instruction);
  const Value* slots = top().stack.data() + top().stack.size() - operands;
  const bool has_null = abstract(slots[kNullSlot]).is_null;
  if (is_before_) {
    PyObject* callable = live_stack(operands - 1 - (has_null ? 1 - kNullSlot : 0));
    top().has_null_slot = has_null;
    top().calls_ufunc = has_null && is_ufunc(callable);
    const bool may_be_known = is_in_loop() && has_null && keyword_names() == nullptr;
    top().known = may_be_known ? replay::known_function(callable) : replay::Known::kNone;
    note_callee(callable);
    note_refused(callable, operands);
    return;
  }
  PyObject* keywords = keyword_names();
  const SnapshotId here = snapshot_at(call_start(), top().stack);
  if (call_known(operands, here)) {
    return;
  }
  Values& stack = top().stack;
  Values values(stack.end() - operands, stack.end() - names_on_stack(instruction.opcode));
  std::ranges::copy(in_graph_order(slots, has_null), values.begin());
  const bool is_ufunc_call = top().calls_ufunc && keywords == nullptr;
  if (!has_raised_ && PyType_Check(live_stack(0)) && is_result_of(values[1], Op::load_build_class)) {
    note_made_class(live_stack(0));
  }
  const Value result = is_ufunc_call
                           ? emit(Op::array_call, values, here)
                           : emit(Op::call, values, here, 0, Ref::create(keywords == nullptr ? Py_None : keywords));
  if (names_on_stack(instruction.opcode) != 0) {
    release(stack.back());
  }
  stack.resize(stack.size() - static_cast<std::size_t>(operands));
  hold(result);
  push(result);
  note(result, live_stack(0));
  note_array_result(is_ufunc_call ? Op::array_call : Op::call);
  for (const Value value : values) {
    release(value);
  }
  flush_drops();
}

// Records a call of a known function with a more specific op than `call`, if there is one.
bool ObjectRules::call_known(int operands, SnapshotId here) {
  const replay::Known known = std::exchange(top().known, replay::Known::kNone);
  Values& stack = top().stack;
  const Values popped(stack.end() - operands, stack.end());
  const Values arguments(popped.begin() + kCallSlots, popped.end());
  std::vector<PyTypeObject*> types;
  for (const Value argument : arguments) {
    types.push_back(abstract(argument).exact != nullptr ? abstract(argument).exact : abstract(argument).seen);
  }
  const bool is_supported =
      known != replay::Known::kNone && !has_raised_ && !is_big_result() &&
      replay::takes(known, types.data(), static_cast<int>(types.size())) &&
      std::ranges::none_of(arguments, [this](Value argument) { return abstract(argument).is_big; });
  if (!is_supported) {
    return false;
  }
  PyObject* callable = top().callable;  // kept alive by the trace
  emit(Op::guard_is, {popped[1 - kNullSlot]}, here, 0, Ref::create(callable));
  for (std::size_t index = 0; known != replay::Known::kLength && index < arguments.size(); ++index) {
    guard_exact(arguments[index], types[index], here);
  }
  const Value result = emit(Op::known_call, arguments, here, 0, Ref::create(callable));
  stack.resize(stack.size() - popped.size());
  hold(result);
  push(result);
  note(result, live_stack(0));
  abstract(result).exact = replay::result_of(known, types[0]);
  for (const Value value : popped) {
    release(value);
  }
  flush_drops();
  return true;
}

void ObjectRules::call_ex(const Instruction& instruction) {
  const int given = (instruction.arg & 1U) != 0 ? 2 : 1;  // positional arguments, and a mapping of others
  if (is_before_) {
    note_callee(live_stack(given + kNullSlot));
    for (int place = 0; place < given; ++place) {
      note(top().stack[top().stack.size() - static_cast<std::size_t>(place) - 1], live_stack(place));
    }
    return;
  }
  const SnapshotId here = snapshot();
  Values& stack = top().stack;
  const Values popped(stack.end() - given - kCallSlots, stack.end());
  Values operands(popped.begin() + 1, popped.end());
  operands.front() = *callable_among(popped.data(), true);
  const Value result = emit(Op::call_ex, operands, here);
  stack.resize(stack.size() - popped.size());
  hold(result);
  push(result);
  note(result, live_stack(0));
  for (const Value value : popped) {
    release(value);
  }
  flush_drops();
}

void ObjectRules::make_function(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  constexpr unsigned kFlags = 4;
  int extras = 0;
  for (unsigned bit = 0; bit < kFlags; ++bit) {
    extras += (instruction.arg >> bit) & 1U ? 1 : 0;
  }
  const SnapshotId here = snapshot();
  const Value code = pop();
  Values& stack = top().stack;
  const Values values(stack.end() - extras, stack.end());
  stack.resize(stack.size() - static_cast<std::size_t>(extras));
  Values operands = {top().function, code};
  operands.insert(operands.end(), values.begin(), values.end());
  const Value result = emit(Op::make_function, operands, here, instruction.arg);
  hold(result);
  push(result);
  note(result, live_stack(0));
  release(code);
  for (const Value value : values) {
    release(value);
  }
  flush_drops();
}

// The function is new and has this attribute only from here on.
void ObjectRules::set_function_attribute(const Instruction& instruction) {
  if (!is_before_) {
    const SnapshotId here = snapshot();
    const Value function = pop();
    const Value value = pop();
    emit(Op::set_function_attribute, {function, value}, here, instruction.arg);
    push(function);
    release(value);
    flush_drops();
  }
}

void ObjectRules::build(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const auto count = static_cast<int>(instruction.arg);
  switch (instruction.opcode) {
    case op::kBUILD_TUPLE:
      if (count == 2) {
        establish_pair();
      }
      return produce(Op::build_tuple, count);
    case op::kBUILD_LIST:
      return produce(Op::build_list, count);
    case op::kBUILD_SET:
      return produce(Op::build_set, count);
    case op::kBUILD_MAP:
      return produce(Op::build_map, 2 * count);
    case op::kBUILD_CONST_KEY_MAP:
      return produce(Op::build_const_key_map, count + 1);
    case op::kBUILD_STRING:
      return produce(Op::build_string, count);
    default:
      return produce(Op::build_slice, count);
  }
}

namespace {

// The flags of FORMAT_VALUE, which graphs have in all versions.
constexpr unsigned kHasFormat = 4;

}  // namespace

void ObjectRules::format_value(const Instruction& instruction) {
  if (!is_before_) {
    produce(Op::format_value, (instruction.arg & kHasFormat) != 0 ? 2 : 1, instruction.arg);
  }
}

void ObjectRules::format_simple(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::format_value, 1);
  }
}

void ObjectRules::format_with_spec(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::format_value, 2, kHasFormat);
  }
}

void ObjectRules::convert_value(const Instruction& instruction) {
  if (!is_before_) {
    produce(Op::convert_value, 1, instruction.arg);
  }
}

void ObjectRules::add_to_container(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value value = pop();
  Value key = kNoValue;
  if (instruction.opcode == op::kMAP_ADD) {
    key = pop();
  }
  const Values& stack = top().stack;
  const Value container = stack[stack.size() - instruction.arg];
  switch (instruction.opcode) {
    case op::kLIST_APPEND:
      emit(Op::list_append, {container, value}, here);
      break;
    case op::kSET_ADD:
      emit(Op::set_add, {container, value}, here);
      break;
    case op::kMAP_ADD:
      emit(Op::map_add, {container, key, value}, here);
      break;
    case op::kLIST_EXTEND:
      emit(Op::list_extend, {container, value}, here);
      break;
    case op::kSET_UPDATE:
      emit(Op::set_update, {container, value}, here);
      break;
    case op::kDICT_UPDATE:
      emit(Op::dict_update, {container, value}, here);
      break;
    default:
      emit(Op::dict_merge, {container, value, stack[stack.size() - instruction.arg - version::kCallableOfMerge]}, here);
      break;
  }
  if (key != kNoValue) {
    release(key);
  }
  release(value);
  flush_drops();
}

void ObjectRules::list_to_tuple(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::list_to_tuple, 1);
  }
}

void ObjectRules::unpack(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  constexpr unsigned kAfterShift = 8;
  constexpr unsigned kBeforeMask = 0xFF;
  const SnapshotId here = snapshot();
  const Value value = pop();
  Value first = kNoValue;
  int count = 0;
  if (instruction.opcode == op::kUNPACK_EX) {
    const long before = static_cast<long>(instruction.arg & kBeforeMask);
    count = static_cast<int>(before + 1 + static_cast<long>(instruction.arg >> kAfterShift));
    Ref split = Ref::steal(PyLong_FromLong(before));
    if (!split) {
      throw PythonError();
    }
    first = emit(Op::unpack_ex, {value}, here, count, std::move(split));
  } else {
    count = static_cast<int>(instruction.arg);
    first = emit(Op::unpack_sequence, {value}, here, count);
  }
  for (int index = count - 1; index >= 0; --index) {
    hold(first + index);
    push(first + index);
    note(first + index, live_stack(index));
  }
  release(value);
  flush_drops();
}

void ObjectRules::get_iter(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::get_iter, 1);
  }
}

void ObjectRules::get_len(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce_keeping(Op::get_len, 1);
  }
}

void ObjectRules::match_kind(const Instruction& instruction) {
  if (!is_before_) {
    produce_keeping(instruction.opcode == op::kMATCH_MAPPING ? Op::match_mapping : Op::match_sequence, 1);
    abstract(top().stack.back()).exact = &PyBool_Type;
  }
}

void ObjectRules::match_keys(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce_keeping(Op::match_keys, 2);
  }
}

void ObjectRules::match_class(const Instruction& instruction) {
  if (!is_before_) {
    produce(Op::match_class, 3, instruction.arg);
  }
}

void ObjectRules::before_with(const Instruction& /*instruction*/) {
  if (is_before_) {
    top().callable = live_stack(0);
  } else {
    enter_manager(Op::before_with);
  }
}

void ObjectRules::enter_manager(Op op) {
  const SnapshotId here = snapshot();
  const Value manager = pop();
  const Value first = emit(op, {manager}, here);
  for (int index = 0; index < 2; ++index) {
    hold(first + index);
    push(first + index);
    note(first + index, live_stack(1 - index));
  }
  release(manager);
  flush_drops();
}

void ObjectRules::load_build_class(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const Value result = emit(Op::load_build_class, {top().function}, snapshot());
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void ObjectRules::import_name(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = pop();
  const Value level = pop();
  const Value result =
      emit(Op::import_name, {top().function, level, names}, here, 0, Ref::create(name_of(instruction)));
  hold(result);
  push(result);
  note(result, live_stack(0));
  release(level);
  release(names);
  flush_drops();
}

void ObjectRules::import_from(const Instruction& instruction) {
  if (!is_before_) {
    produce_keeping(Op::import_from, 1, 0, Ref::create(name_of(instruction)));
  }
}

}  // namespace tagalong::recorder
