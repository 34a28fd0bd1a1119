// Rules: operators, items, attributes.
#include <opcode.h>

#include "recorder/base/call_slots.h"
#include "recorder/base/hints.h"
#include "recorder/base/instruction_kinds.h"
#include "recorder/rules/object_rules.h"
#include "replay/objects/unboxed.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/instances.h"

namespace tagalong::recorder {

using replay::UnaryOperator;

void ObjectRules::unary(const Instruction& instruction) {
  if (!is_before_) {
    operate(unary_operator(instruction.opcode).value_or(UnaryOperator::kInvert));
  }
}

void ObjectRules::operate(UnaryOperator op) {
  const int number = static_cast<int>(op);
  const Value value = top().stack.back();
  if (is_in_loop() && op == UnaryOperator::kNegative && known_number(value) != nullptr && !is_big_result()) {
    PyTypeObject* type = known_number(value);
    guard_exact(value, type, snapshot());
    produce(Op::unary_op, 1, number);
    abstract(top().stack.back()).exact = type;
    return;
  }
  PyTypeObject* scalar = known_scalar(value);
  if (is_in_loop() && !has_raised_ && op == UnaryOperator::kNegative && replay::is_numpy(replay::unboxed_of(scalar))) {
    guard_exact(value, scalar, snapshot());
    produce(Op::unary_op, 1, number);
    abstract(top().stack.back()).exact = scalar;
    return;
  }
  const bool is_array = is_array_type(abstract(value).seen);
  produce(is_array ? Op::array_unary : Op::unary_op, 1, number);
}

void ObjectRules::unary_not(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const bool is_bool = abstract(top().stack.back()).exact == &PyBool_Type;
  produce(is_bool ? Op::bool_not : Op::unary_not, 1);
  abstract(top().stack.back()).exact = &PyBool_Type;
}

namespace {

// The operators whose result type is determined by the exact types int or float of the operands.
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

// Operators whose result on ints is an int, unless they raise.
bool is_shift(std::uint32_t argument) {
  return argument == NB_LSHIFT || argument == NB_INPLACE_LSHIFT || argument == NB_RSHIFT ||
         argument == NB_INPLACE_RSHIFT;
}

}  // namespace

void ObjectRules::binary(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const Values& stack = top().stack;
  const Value left = stack[stack.size() - 2];
  const Value right = stack.back();
  const bool is_float = known_number(left) == &PyFloat_Type || known_number(right) == &PyFloat_Type;
  // In a loop, operations of ints are for 64-bit results: a larger one would take a side exit in each round.
  const bool is_number_operation =
      is_closed(instruction.arg, is_float) || (is_in_loop() && !is_float && is_shift(instruction.arg));
  if (is_number_operation && !(is_in_loop() && is_big_result()) && establish_numbers(left, right, snapshot())) {
    produce(is_float ? Op::float_binary : Op::int_binary, 2, instruction.arg);
    abstract(top().stack.back()).exact = is_float || is_true_divide(instruction.arg) ? &PyFloat_Type : &PyLong_Type;
    return;
  }
  if (const Op op = scalar_operation(instruction.arg, left, right); op != Op::binary_op) {
    produce(op, 2, instruction.arg);
    abstract(top().stack.back()).exact =
        replay::type_of(op == Op::float64_binary ? replay::Unboxed::kNumpyFloat : replay::Unboxed::kNumpyInt);
    return;
  }
  const bool is_array = is_array_type(abstract(left).seen) || is_array_type(abstract(right).seen);
  produce(is_array ? Op::array_binary : Op::binary_op, 2, instruction.arg);
}

void ObjectRules::compare(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const auto comparison = rewriter::index_of(instruction.opcode, instruction.arg);
  const Values& stack = top().stack;
  const Value left = stack[stack.size() - 2];
  const Value right = stack.back();
  const bool is_float = known_number(left) == &PyFloat_Type || known_number(right) == &PyFloat_Type;
  if (establish_numbers(left, right, snapshot())) {
    produce(is_float ? Op::float_compare : Op::int_compare, 2, comparison);
    abstract(top().stack.back()).exact = &PyBool_Type;
    return;
  }
  const bool are_scalars = establish_scalars(left, right);
  const bool is_array = is_array_type(abstract(left).seen) || is_array_type(abstract(right).seen);
  const Op op = are_scalars ? Op::scalar_compare : is_array ? Op::array_compare : Op::compare_op;
  PyTypeObject* scalar = are_scalars ? replay::type_of(replay::Unboxed::kNumpyBool) : nullptr;
  if (!version::compares_to_bool(instruction.arg)) {
    produce(op, 2, comparison);
    if (are_scalars) {
      abstract(top().stack.back()).exact = scalar;
    }
    return;
  }
  // The instruction asks for the truth of the result. Only one node may raise what was raised while recording.
  if (has_raised_) {
    produce(Op::compare_truth, 2, comparison);
    return;
  }
  const SnapshotId here = snapshot();
  const Value result = emit(op, {left, right}, here, comparison);
  hold(result);
  abstract(result).exact = scalar;
  const Value truth = emit(are_scalars ? Op::number_truth : Op::to_bool, {result}, here);
  pop();
  pop();
  hold(truth);
  push(truth);
  note(truth, live_stack(0));
  abstract(truth).exact = &PyBool_Type;
  release(left);
  release(right);
  release(result);
  flush_drops();
}

void ObjectRules::is_op(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  produce(Op::is_op, 2, instruction.arg);
  abstract(top().stack.back()).exact = &PyBool_Type;
}

void ObjectRules::contains(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  produce(Op::contains_op, 2, instruction.arg);
  abstract(top().stack.back()).exact = &PyBool_Type;
}

namespace {

// Whether the list has a number at this index.
bool is_number_in(PyObject* container, PyObject* key) {
  std::int64_t index = 0;
  if (!PyList_CheckExact(container) || !PyLong_CheckExact(key) || !cpython::int64_of(key, &index)) {
    return false;
  }
  const Py_ssize_t size = PyList_GET_SIZE(container);
  index += index < 0 ? size : 0;
  return index >= 0 && index < size && cpython::is_exact_number(PyList_GET_ITEM(container, index));
}

}  // namespace

void ObjectRules::binary_subscr(const Instruction& /*instruction*/) {
  if (is_before_) {
    note_array(live_stack(1), live_stack(0));
    return;
  }
  const Values& stack = top().stack;
  const Value container = stack[stack.size() - 2];
  const Value key = stack.back();
  if (establish_array_item(container, key)) {
    produce(Op::array_item, 2, top().array_items);
    abstract(top().stack.back()).exact = replay::type_of(replay::unboxed_of_items(top().array_items));
    return;
  }
  produce(establish_item(container, key, false) ? Op::sequence_item : Op::binary_subscr, 2);
}

void ObjectRules::store_subscr(const Instruction& /*instruction*/) {
  if (is_before_) {
    note_array(live_stack(1), live_stack(0));
    top().renews = is_in_loop() && is_number_in(live_stack(1), live_stack(0));
    return;
  }
  // on the stack: value, container, key
  const Values& stack = top().stack;
  const Value container = stack[stack.size() - 2];
  const Value key = stack.back();
  const std::vector<int> order = {1, 2, 0};
  if (top().array_items >= 0 && !has_raised_ && establish_stored(stack[stack.size() - 3]) &&
      establish_array_item(container, key)) {
    consume(Op::array_store, 3, order, {}, top().array_items);
    return;
  }
  const Op on_list = top().renews ? Op::list_renew : Op::list_store;
  consume(establish_item(container, key, true) ? on_list : Op::store_subscr, 3, order, {});
}

// Two versions of the same: the slice of the two bounds on top of the stack.
Value ObjectRules::make_slice(SnapshotId here) {
  const Values& stack = top().stack;
  const Value slice = emit(Op::build_slice, {stack.end()[-2], stack.back()}, here);
  hold(slice);
  abstract(slice).seen = &PySlice_Type;
  release(pop());
  release(pop());
  return slice;
}

void ObjectRules::binary_slice(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value slice = make_slice(here);
  const Value container = pop();
  const Value result = emit(Op::binary_subscr, {container, slice}, here);
  hold(result);
  push(result);
  note(result, live_stack(0));
  release(slice);
  release(container);
  flush_drops();
}

void ObjectRules::store_slice(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value slice = make_slice(here);
  const Value container = pop();
  const Value value = pop();
  emit(Op::store_subscr, {container, slice, value}, here);
  release(slice);
  release(value);
  release(container);
  flush_drops();
}

void ObjectRules::delete_subscr(const Instruction& /*instruction*/) {
  if (!is_before_) {
    consume(Op::delete_subscr, 2, {0, 1}, {});
  }
}

namespace {

// Whether the name is found in the module's own dict, without running user code.
bool is_plain_module_attribute(PyObject* owner, PyObject* text) {
  return PyModule_CheckExact(owner) && cpython::find_without_side_effects(PyModule_GetDict(owner), text) != nullptr &&
         _PyType_Lookup(&PyModule_Type, text) == nullptr;
}

// When CPython specialises an instruction, it looks such a key up in the instance's dict once more. So the interpreter
// executes the instruction.
bool asks_keys_of_its_own(PyObject* owner, PyObject* text) {
  const bool is_instance = owner != nullptr && !PyModule_CheckExact(owner) && !PyType_Check(owner);
  PyObject* own = is_instance ? cpython::dict_of_instance(owner) : nullptr;
  return own != nullptr && cpython::asks_keys(own, text);
}

}  // namespace

void ObjectRules::load_attr(const Instruction& instruction) {
  if (loads_method(instruction)) {
    return load_method(instruction);
  }
  PyObject* text = name_of(instruction);
  if (is_before_) {
    if (asks_keys_of_its_own(live_stack(0), text)) {
      stop(Stop::k_asks_keys);
      return;
    }
    top().plain_attribute = is_plain_module_attribute(live_stack(0), text);
    return;
  }
  produce(top().plain_attribute ? Op::load_module_attr : Op::load_attr, 1, 0, Ref::create(text));
}

void ObjectRules::store_attr(const Instruction& instruction) {
  PyObject* text = name_of(instruction);
  if (!is_before_) {
    consume(Op::store_attr, 2, {1, 0}, Ref::create(text));  // value, owner
  } else if (asks_keys_of_its_own(live_stack(0), text)) {
    stop(Stop::k_asks_keys);
  }
}

void ObjectRules::delete_attr(const Instruction& instruction) {
  if (!is_before_) {
    consume(Op::delete_attr, 1, {0}, Ref::create(name_of(instruction)));
  }
}

void ObjectRules::load_method(const Instruction& instruction) {
  PyObject* text = name_of(instruction);
  if (is_before_) {
    if (asks_keys_of_its_own(live_stack(0), text)) {
      stop(Stop::k_asks_keys);
      return;
    }
    top().plain_attribute = is_plain_module_attribute(live_stack(0), text);
    return;
  }
  const Value owner = top().stack.back();
  const SnapshotId here = snapshot();
  pop();
  const Value first =
      emit(top().plain_attribute ? Op::load_module_method : Op::load_method, {owner}, here, 0, Ref::create(text));
  push_method(owner, first);
}

// The two results are a function and its first argument, or null and the attribute.
void ObjectRules::push_method(Value owner, Value first) {
  const bool is_method = !has_raised_ && live_stack(kCallSlots - 1 - kNullSlot) != nullptr;
  const bool is_swapped = kNullSlot != 0 && !is_method;
  for (int index = 0; index < kCallSlots; ++index) {
    const Value value = first + (is_swapped ? 1 - index : index);
    hold(value);
    push(value);
    note(value, live_stack(1 - index));
  }
  if (kNullSlot != 0) {
    // Where the null lies depends on what has been found. If nothing has been, both values are null.
    Values other = top().stack;
    std::swap(other.back(), other.end()[-2]);
    emit(is_method ? Op::guard_not_null : Op::guard_null, {first}, snapshot_at(current_ + 1, other));
  } else if (is_method) {
    emit(Op::guard_not_null, {first}, snapshot_at(current_ + 1, top().stack));
  }
  if (is_method) {
    // `self` is the owner and not a copy of it: C code that counts its references (`array.resize()`) must find the
    // program's count.
    release(pop());
    push(owner);
  } else {
    release(owner);
  }
  flush_drops();
}

// The attribute is found by super(class, self), whose result only this instruction sees.
void ObjectRules::load_super_attr(const Instruction& instruction) {
  if (is_before_) {
    if (live_stack(2) != reinterpret_cast<PyObject*>(&PySuper_Type)) {
      stop(Stop::k_own_super);
    }
    return;
  }
  const SnapshotId here = snapshot();
  const Value self = pop();
  const Value type = pop();
  const Value super = pop();
  emit(Op::guard_is, {super}, here, 0, Ref::create(reinterpret_cast<PyObject*>(&PySuper_Type)));
  const Value found = emit(Op::call, {null_value(), super, type, self}, here, 0, Ref::create(Py_None));
  hold(found);
  const Value result = emit(Op::load_attr, {found}, here, 0, Ref::create(name_of(instruction)));
  hold(result);
  push(result);
  const bool has_null = rewriter::has_second_value(instruction.opcode, instruction.arg);
  note(result, live_stack(has_null ? 1 : 0));
  if (has_null) {
    push(null_value());
  }
  release(found);
  release(super);
  release(type);
  release(self);
  flush_drops();
}

}  // namespace tagalong::recorder
