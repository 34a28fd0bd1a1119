#include "recorder/rules/name_rules.h"

#include <utility>

#include "recorder/base/call_slots.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::recorder {

using replay::kNoValue;

// Rules that fire behind their instruction; debug builds also have a hook in front, only for the shadow check.
#define TAGALONG_AFTER_ONLY() \
  if (is_before_) {           \
    return;                   \
  }

void NameRules::nothing(const Instruction& /*instruction*/) {}

void NameRules::pop_top(const Instruction& /*instruction*/) {
  TAGALONG_AFTER_ONLY();
  release(pop());
  flush_drops();
}

void NameRules::push_null(const Instruction& /*instruction*/) {
  TAGALONG_AFTER_ONLY();
  push(null_value());
}

void NameRules::copy(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Values& stack = top().stack;
  const Value value = stack[stack.size() - instruction.arg];
  hold(value);
  push(value);
}

void NameRules::swap(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  Values& stack = top().stack;
  std::swap(stack.back(), stack[stack.size() - instruction.arg]);
  state_changed_ = true;
}

void NameRules::load_const(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Value value = constant(frames_.back().code->decoded->assembly.constants[instruction.arg].get());
  hold(value);
  push(value);
}

void NameRules::load_assertion_error(const Instruction& /*instruction*/) {
  TAGALONG_AFTER_ONLY();
  const Value value = constant(PyExc_AssertionError);
  hold(value);
  push(value);
}

void NameRules::load_slot(std::uint32_t slot) {
  const Value value = top().locals[slot];
  TAGALONG_CHECK(value != kNoValue, "local {} has no value", slot);
  hold(value);
  push(value);
}

// A null that LOAD_FAST_AND_CLEAR has found makes the local unbound again.
void NameRules::store_slot(std::uint32_t slot) {
  const Value value = pop();
  bind_local(static_cast<int>(slot), abstract(value).is_null ? kNoValue : value);
  flush_drops();
}

void NameRules::load_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  load_slot(instruction.arg);
}

// In front of an inlined comprehension, which has its variables in the same frame.
void NameRules::load_fast_and_clear(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Value old = top().locals[instruction.arg];
  const Value value = old == kNoValue ? null_value() : old;
  hold(value);
  bind_local(static_cast<int>(instruction.arg), kNoValue);
  push(value);
}

namespace {

constexpr unsigned kSecondSlot = 4;  // the first of two slots lies above so many bits
constexpr std::uint32_t first_slot(std::uint32_t argument) { return argument >> kSecondSlot; }
constexpr std::uint32_t second_slot(std::uint32_t argument) { return argument & ((1U << kSecondSlot) - 1); }

}  // namespace

void NameRules::load_fast_load_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  load_slot(first_slot(instruction.arg));
  load_slot(second_slot(instruction.arg));
}

void NameRules::store_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  store_slot(instruction.arg);
}

// In front of an inlined comprehension; the cells of the function itself are made in front of its first RESUME.
void NameRules::make_cell(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Value content = top().locals[instruction.arg];
  const Value cell = emit(Op::make_cell, {content == kNoValue ? null_value() : content}, replay::kNoSnapshot);
  abstract(cell).seen = &PyCell_Type;
  hold(cell);
  bind_local(static_cast<int>(instruction.arg), cell);
  flush_drops();
}

void NameRules::store_fast_load_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  store_slot(first_slot(instruction.arg));
  load_slot(second_slot(instruction.arg));
}

void NameRules::store_fast_store_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  store_slot(first_slot(instruction.arg));
  store_slot(second_slot(instruction.arg));
}

void NameRules::delete_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  bind_local(static_cast<int>(instruction.arg), kNoValue);
  flush_drops();
}

namespace {

// cell_get and cell_delete need the variable's name for error messages.
std::pair<std::int64_t, Ref> cell_name(const PyCodeObject* code, std::uint32_t slot) {
  const bool is_free = static_cast<int>(slot) >= code->co_nlocalsplus - code->co_nfreevars;
  return {is_free ? 1 : 0, Ref::create(PyTuple_GET_ITEM(code->co_localsplusnames, slot))};
}

}  // namespace

void NameRules::load_deref(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  auto [is_free, text] = cell_name(top().code->decoded->shape->code.get(), instruction.arg);
  const Value result = emit(Op::cell_get, {top().locals[instruction.arg]}, snapshot(), is_free, std::move(text));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void NameRules::store_deref(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const SnapshotId here = snapshot();
  const Value value = pop();
  emit(Op::cell_set, {top().locals[instruction.arg], value}, here);
  release(value);
  flush_drops();
}

void NameRules::delete_deref(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  auto [is_free, text] = cell_name(top().code->decoded->shape->code.get(), instruction.arg);
  emit(Op::cell_delete, {top().locals[instruction.arg]}, snapshot(), is_free, std::move(text));
}

// Whether looking up the instruction's global name may run user code.
bool NameRules::asks_keys(const Instruction& instruction) const {
  bool reads = true;
  switch (instruction.opcode) {
    case rewriter::op::kLOAD_GLOBAL:
    case rewriter::op::kLOAD_FROM_DICT_OR_GLOBALS:
      break;
    case rewriter::op::kSTORE_GLOBAL:
    case rewriter::op::kDELETE_GLOBAL:
      reads = false;
      break;
    case rewriter::op::kLOAD_NAME:
    case rewriter::op::kSTORE_NAME:
    case rewriter::op::kDELETE_NAME:
      if (!has_plain_names_) {
        return false;
      }
      reads = instruction.opcode == rewriter::op::kLOAD_NAME;
      break;
    default:
      return false;
  }
  PyObject* text = name_of(instruction);
  PyObject* globals = frames_.back().live->f_globals;
  PyObject* builtins = frames_.back().live->f_builtins;
  return (PyDict_Check(globals) && cpython::asks_keys(globals, text)) ||
         (reads && PyDict_Check(builtins) && cpython::asks_keys(builtins, text));
}

// Ends the trace in front of an instruction whose look-up may run user code.
bool NameRules::stop_if_lookup_may_run_user_code(const Instruction& instruction) {
  const bool asks = asks_keys(instruction);
  if (asks) {
    stop(Stop::k_asks_keys);
  }
  return asks;
}

void NameRules::load_global(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  if (stop_if_lookup_may_run_user_code(instruction)) {
    return;
  }
  const SnapshotId here = snapshot();
  const bool has_null = rewriter::has_second_value(instruction.opcode, instruction.arg);
  if (has_null && kNullSlot == 0) {
    push(null_value());
  }
  const Value result = emit(Op::load_global, {top().function}, here, 0, Ref::create(name_of(instruction)));
  hold(result);
  push(result);
  note(result, live_stack(has_null ? kNullSlot : 0));
  if (has_null && kNullSlot != 0) {
    push(null_value());
  }
}

void NameRules::store_global(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  if (!stop_if_lookup_may_run_user_code(instruction)) {
    bind_global(instruction);
  }
}

// A global name that is assigned a number in a loop usually held a number before, which rebind_global assumes. A trace
// that begins with this instruction (behind a side exit of that assumption) does not assume it.
void NameRules::bind_global(const Instruction& instruction) {
  const SnapshotId here = snapshot();
  const Value value = pop();
  const bool is_first = place_ == DecodedCode::Place::kExit && entry_open_;
  PyTypeObject* type = abstract(value).exact != nullptr ? abstract(value).exact : abstract(value).seen;
  const bool is_number = type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type;
  emit(is_in_loop() && is_number && !is_first ? Op::rebind_global : Op::store_global, {top().function, value}, here, 0,
       Ref::create(name_of(instruction)));
  release(value);
  flush_drops();
}

void NameRules::delete_global(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  if (stop_if_lookup_may_run_user_code(instruction)) {
    return;
  }
  emit(Op::delete_global, {top().function}, snapshot(), 0, Ref::create(name_of(instruction)));
}

// --- frames whose variables are in a mapping

Value NameRules::names_value() {
  if (names_ == kNoValue) {
    names_ = emit(Op::names, {}, replay::kNoSnapshot);
    abstract(names_).counted = false;
  }
  return names_;
}

// The variables of a module's body are its globals, and this cannot change while the frame exists.
void NameRules::find_names() {
  PyObject* names = cpython::names_of(top().live);
  has_plain_names_ = names == cpython::function_of(top().live)->func_globals && PyDict_CheckExact(names);
  if (has_plain_names_) {
    current_ = top().next;
    emit(Op::guard_names, {top().function}, snapshot());
    current_ = 0;
  }
}

void NameRules::load_name(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  if (stop_if_lookup_may_run_user_code(instruction)) {
    return;
  }
  const SnapshotId here = snapshot();
  Ref name_object = Ref::create(name_of(instruction));
  const Value result = has_plain_names_
                           ? emit(Op::load_global, {top().function}, here, 0, std::move(name_object))
                           : emit(Op::load_name, {top().function, names_value()}, here, 0, std::move(name_object));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void NameRules::store_name(const Instruction& instruction) {
  if (is_before_ || stop_if_lookup_may_run_user_code(instruction)) {
    return;
  }
  if (has_plain_names_) {
    bind_global(instruction);
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = names_value();
  const Value value = pop();
  emit(Op::store_name, {top().function, names, value}, here, 0, Ref::create(name_of(instruction)));
  release(value);
  flush_drops();
}

void NameRules::delete_name(const Instruction& instruction) {
  if (is_before_ || stop_if_lookup_may_run_user_code(instruction)) {
    return;
  }
  const SnapshotId here = snapshot();
  Ref name_object = Ref::create(name_of(instruction));
  if (has_plain_names_) {
    emit(Op::delete_global, {top().function}, here, 0, std::move(name_object));
  } else {
    emit(Op::delete_name, {top().function, names_value()}, here, 0, std::move(name_object));
  }
}

void NameRules::load_classderef(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const PyCodeObject* code = top().code->decoded->shape->code.get();
  take_by_name(Op::load_classderef, {names_value(), top().locals[instruction.arg]}, here,
               PyTuple_GET_ITEM(code->co_localsplusnames, instruction.arg));
}

void NameRules::take_by_name(Op op, const Values& operands, SnapshotId here, PyObject* text) {
  const Value result = emit(op, operands, here, 0, Ref::create(text));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void NameRules::load_locals(const Instruction& /*instruction*/) {
  if (!is_before_) {
    const Value names = names_value();
    hold(names);
    push(names);
  }
}

void NameRules::load_from_dict_or_deref(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const PyCodeObject* code = top().code->decoded->shape->code.get();
  const Value names = pop();
  take_by_name(Op::load_classderef, {names, top().locals[instruction.arg]}, here,
               PyTuple_GET_ITEM(code->co_localsplusnames, instruction.arg));
  release(names);
  flush_drops();
}

void NameRules::load_from_dict_or_globals(const Instruction& instruction) {
  if (is_before_ || stop_if_lookup_may_run_user_code(instruction)) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = pop();
  take_by_name(Op::load_name, {top().function, names}, here, name_of(instruction));
  release(names);
  flush_drops();
}

void NameRules::use_value_and_names(const Instruction& instruction) {
  if (!is_before_) {
    use_value_and_names(instruction.opcode == rewriter::op::kIMPORT_STAR ? Op::import_star : Op::print_expr);
  }
}

// `from module import *` and the value of an expression in an interactive session.
void NameRules::use_value_and_names(Op op) {
  const SnapshotId here = snapshot();
  const Value names = names_value();
  const Value value = pop();
  emit(op, {top().function, names, value}, here);
  release(value);
  flush_drops();
}

void NameRules::setup_annotations(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = names_value();
  emit(Op::setup_annotations, {top().function, names}, here);
}

}  // namespace tagalong::recorder
