// Rules: operators, items, attributes.
#include <opcode.h>

#include "recorder/facts.h"
#include "recorder/session.h"

namespace tagalong::recorder {

void Session::unary(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const Value value = top().stack.back();
  if (is_in_loop() && instruction.opcode == UNARY_NEGATIVE && known_number(value) != nullptr && !is_big_result()) {
    PyTypeObject* type = known_number(value);
    guard_exact(value, type, snapshot());
    produce(Op::unary_op, 1, instruction.opcode);
    facts(top().stack.back()).exact = type;
    return;
  }
  const bool is_array = is_array_type(facts(value).seen);
  produce(is_array ? Op::array_unary : Op::unary_op, 1, instruction.opcode);
}

void Session::unary_not(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const bool is_bool = facts(top().stack.back()).exact == &PyBool_Type;
  produce(is_bool ? Op::bool_not : Op::unary_not, 1);
  facts(top().stack.back()).exact = &PyBool_Type;
}

namespace {

// The operators whose result type follows from the operands' exact types int or float.
bool is_closed(std::uint32_t argument, bool is_float) {
  switch (argument) {
    case NB_ADD:
    case NB_INPLACE_ADD:
    case NB_SUBTRACT:
    case NB_INPLACE_SUBTRACT:
    case NB_MULTIPLY:
    case NB_INPLACE_MULTIPLY:
    case NB_FLOOR_DIVIDE:
    case NB_INPLACE_FLOOR_DIVIDE:
    case NB_REMAINDER:
    case NB_INPLACE_REMAINDER:
      return true;
    case NB_TRUE_DIVIDE:
    case NB_INPLACE_TRUE_DIVIDE:
      return true;
    case NB_AND:
    case NB_INPLACE_AND:
    case NB_OR:
    case NB_INPLACE_OR:
    case NB_XOR:
    case NB_INPLACE_XOR:
      return !is_float;
    default:
      return false;
  }
}

// Those that stay among ints, or raise.
bool is_shift(std::uint32_t argument) {
  return argument == NB_LSHIFT || argument == NB_INPLACE_LSHIFT || argument == NB_RSHIFT ||
         argument == NB_INPLACE_RSHIFT;
}

bool is_true_divide(std::uint32_t argument) { return argument == NB_TRUE_DIVIDE || argument == NB_INPLACE_TRUE_DIVIDE; }

}  // namespace

void Session::binary(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const Values& stack = top().stack;
  const Value left = stack[stack.size() - 2];
  const Value right = stack.back();
  const bool is_float = known_number(left) == &PyFloat_Type || known_number(right) == &PyFloat_Type;
  // In a loop ints are such of 64 bits: what goes beyond would leave in each round.
  const bool is_apt = is_closed(instruction.arg, is_float) || (is_in_loop() && !is_float && is_shift(instruction.arg));
  if (is_apt && !(is_in_loop() && is_big_result()) && establish_numbers(left, right, snapshot())) {
    produce(is_float ? Op::float_binary : Op::int_binary, 2, instruction.arg);
    facts(top().stack.back()).exact = is_float || is_true_divide(instruction.arg) ? &PyFloat_Type : &PyLong_Type;
    return;
  }
  const bool is_array = is_array_type(facts(left).seen) || is_array_type(facts(right).seen);
  produce(is_array ? Op::array_binary : Op::binary_op, 2, instruction.arg);
}

void Session::compare(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const Values& stack = top().stack;
  const Value left = stack[stack.size() - 2];
  const Value right = stack.back();
  const bool is_float = known_number(left) == &PyFloat_Type || known_number(right) == &PyFloat_Type;
  if (establish_numbers(left, right, snapshot())) {
    produce(is_float ? Op::float_compare : Op::int_compare, 2, instruction.arg);
    facts(top().stack.back()).exact = &PyBool_Type;
    return;
  }
  const bool is_array = is_array_type(facts(left).seen) || is_array_type(facts(right).seen);
  produce(is_array ? Op::array_compare : Op::compare_op, 2, instruction.arg);
}

void Session::is_op(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  produce(Op::is_op, 2, instruction.arg);
  facts(top().stack.back()).exact = &PyBool_Type;
}

void Session::contains(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  produce(Op::contains_op, 2, instruction.arg);
  facts(top().stack.back()).exact = &PyBool_Type;
}

// Whether the instruction has given an int beyond 64 bits.
bool Session::is_big_result() const {
  PyObject* result = live_stack(0);
  int overflow = 0;
  if (result != nullptr && PyLong_CheckExact(result)) {
    static_cast<void>(PyLong_AsLongLongAndOverflow(result, &overflow));
  }
  return overflow != 0;
}

// In a loop: whether container[key] is an item of a list or tuple by number; guarded then.
bool Session::establish_item(Value container, Value key, bool stores) {
  if (!is_in_loop() || has_raised_ || !may_be_exact(key, &PyLong_Type)) {
    return false;
  }
  PyTypeObject* type = nullptr;
  if (may_be_exact(container, &PyList_Type)) {
    type = &PyList_Type;
  } else if (!stores && may_be_exact(container, &PyTuple_Type)) {
    type = &PyTuple_Type;
  }
  if (type == nullptr) {
    return false;
  }
  guard_exact(container, type, snapshot());
  guard_exact(key, &PyLong_Type, snapshot());
  return true;
}

void Session::binary_subscr(const Instruction& /*instruction*/) {
  if (!is_before_) {
    const Values& stack = top().stack;
    const bool is_item = establish_item(stack[stack.size() - 2], stack.back(), false);
    produce(is_item ? Op::sequence_item : Op::binary_subscr, 2);
  }
}

void Session::store_subscr(const Instruction& /*instruction*/) {
  if (!is_before_) {
    const Values& stack = top().stack;
    const bool is_item = establish_item(stack[stack.size() - 2], stack.back(), true);
    // on the stack: value, container, key
    consume(is_item ? Op::list_store : Op::store_subscr, 3, {1, 2, 0}, {});
  }
}

void Session::delete_subscr(const Instruction& /*instruction*/) {
  if (!is_before_) {
    consume(Op::delete_subscr, 2, {0, 1}, {});
  }
}

namespace {

// Whether the name is found in the module's own dict, where nothing of the user's runs.
bool is_plain_module_attribute(PyObject* owner, PyObject* text) {
  return PyModule_CheckExact(owner) && PyDict_GetItemWithError(PyModule_GetDict(owner), text) != nullptr &&
         _PyType_Lookup(&PyModule_Type, text) == nullptr;
}

}  // namespace

void Session::load_attr(const Instruction& instruction) {
  PyObject* text = name(static_cast<int>(instruction.arg));
  if (is_before_) {
    top().plain_attribute = is_plain_module_attribute(live_stack(0), text);
    return;
  }
  produce(top().plain_attribute ? Op::load_module_attr : Op::load_attr, 1, 0, Ref::create(text));
}

void Session::store_attr(const Instruction& instruction) {
  if (!is_before_) {
    consume(Op::store_attr, 2, {1, 0}, Ref::create(name(static_cast<int>(instruction.arg))));  // value, owner
  }
}

void Session::delete_attr(const Instruction& instruction) {
  if (!is_before_) {
    consume(Op::delete_attr, 1, {0}, Ref::create(name(static_cast<int>(instruction.arg))));
  }
}

void Session::load_method(const Instruction& instruction) {
  PyObject* text = name(static_cast<int>(instruction.arg));
  if (is_before_) {
    top().plain_attribute = is_plain_module_attribute(live_stack(0), text);
    return;
  }
  const Value owner = top().stack.back();
  const SnapshotId here = snapshot();
  pop();
  const Value first =
      emit(top().plain_attribute ? Op::load_module_method : Op::load_method, {owner}, here, 0, Ref::create(text));
  for (int index = 0; index < 2; ++index) {
    hold(first + index);
    push(first + index);
    note(first + index, live_stack(1 - index));
  }
  if (!has_raised_ && live_stack(1) != nullptr) {
    // `self` is the owner, not one more value: who counts its references (`array.resize()`) finds those of the program.
    emit(Op::guard_not_null, {first}, snapshot_at(current_ + 1, top().stack));
    release(pop());
    push(owner);
    flush_drops();
    return;
  }
  release(owner);
  flush_drops();
}

}  // namespace tagalong::recorder
