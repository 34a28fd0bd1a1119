// Rules: the stack, local variables, cells and globals.
#include <utility>

#include "recorder/session.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/dicts.h"

namespace tagalong::recorder {

using replay::kNoValue;

// Rules that fire after their instruction; debug builds have hooks before them, too, only for the shadow check.
#define TAGALONG_AFTER_ONLY() \
  if (is_before_) {           \
    return;                   \
  }

void Session::nothing(const Instruction& /*instruction*/) {}

void Session::pop_top(const Instruction& /*instruction*/) {
  TAGALONG_AFTER_ONLY();
  release(pop());
  flush_drops();
}

void Session::push_null(const Instruction& /*instruction*/) {
  TAGALONG_AFTER_ONLY();
  push(null_value());
}

void Session::copy(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Values& stack = top().stack;
  const Value value = stack[stack.size() - instruction.arg];
  hold(value);
  push(value);
}

void Session::swap(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  Values& stack = top().stack;
  std::swap(stack.back(), stack[stack.size() - instruction.arg]);
  state_changed_ = true;
}

void Session::load_const(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Value value = constant(frames_.back().code->decoded->assembly.constants[instruction.arg].get());
  hold(value);
  push(value);
}

void Session::load_assertion_error(const Instruction& /*instruction*/) {
  TAGALONG_AFTER_ONLY();
  const Value value = constant(PyExc_AssertionError);
  hold(value);
  push(value);
}

void Session::load_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Value value = top().locals[instruction.arg];
  TAGALONG_CHECK(value != kNoValue, "local {} has no value", instruction.arg);
  hold(value);
  push(value);
}

void Session::store_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const Value value = pop();
  bind_local(static_cast<int>(instruction.arg), value);
  flush_drops();
}

void Session::delete_fast(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  bind_local(static_cast<int>(instruction.arg), kNoValue);
  flush_drops();
}

namespace {

// cell_get and cell_delete name the variable for the texts of errors.
std::pair<std::int64_t, Ref> cell_name(const PyCodeObject* code, std::uint32_t slot) {
  const bool is_free = static_cast<int>(slot) >= code->co_nlocalsplus - code->co_nfreevars;
  return {is_free ? 1 : 0, Ref::create(PyTuple_GET_ITEM(code->co_localsplusnames, slot))};
}

}  // namespace

void Session::load_deref(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  auto [is_free, text] = cell_name(top().code->decoded->shape->code.get(), instruction.arg);
  const Value result = emit(Op::cell_get, {top().locals[instruction.arg]}, snapshot(), is_free, std::move(text));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void Session::store_deref(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  const SnapshotId here = snapshot();
  const Value value = pop();
  emit(Op::cell_set, {top().locals[instruction.arg], value}, here);
  release(value);
  flush_drops();
}

void Session::delete_deref(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  auto [is_free, text] = cell_name(top().code->decoded->shape->code.get(), instruction.arg);
  emit(Op::cell_delete, {top().locals[instruction.arg]}, snapshot(), is_free, std::move(text));
}

// Whether the program's own code decides what the instruction's global name stands for.
bool Session::asks_keys(const Instruction& instruction) const {
  bool reads = true;
  bool is_shifted = false;
  switch (instruction.opcode) {
    case rewriter::op::kLOAD_GLOBAL:
      is_shifted = true;
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
  PyObject* text = name(static_cast<int>(is_shifted ? instruction.arg >> 1U : instruction.arg));
  PyObject* globals = frames_.back().live->f_globals;
  PyObject* builtins = frames_.back().live->f_builtins;
  return (PyDict_Check(globals) && cpython::asks_keys(globals, text)) ||
         (reads && PyDict_Check(builtins) && cpython::asks_keys(builtins, text));
}

// The trace ends in front of such an instruction.
bool Session::stop_if_keys_are_asked(const Instruction& instruction) {
  const bool asks = asks_keys(instruction);
  if (asks) {
    stop(Stop::k_asks_keys);
  }
  return asks;
}

void Session::load_global(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  if (stop_if_keys_are_asked(instruction)) {
    return;
  }
  const SnapshotId here = snapshot();
  if ((instruction.arg & 1U) != 0) {
    push(null_value());
  }
  const Value result =
      emit(Op::load_global, {top().function}, here, 0, Ref::create(name(static_cast<int>(instruction.arg >> 1U))));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void Session::store_global(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  if (!stop_if_keys_are_asked(instruction)) {
    bind_global(instruction);
  }
}

// A name that is bound to a number is, in a loop, mostly bound to one before. Where it is not, a trace that begins with
// this instruction takes it as it comes.
void Session::bind_global(const Instruction& instruction) {
  const SnapshotId here = snapshot();
  const Value value = pop();
  const bool is_first = place_ == DecodedCode::Place::kExit && entry_open_;
  PyTypeObject* type = abstract(value).exact != nullptr ? abstract(value).exact : abstract(value).seen;
  const bool is_number = type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type;
  emit(is_in_loop() && is_number && !is_first ? Op::rebind_global : Op::store_global, {top().function, value}, here, 0,
       Ref::create(name(static_cast<int>(instruction.arg))));
  release(value);
  flush_drops();
}

void Session::delete_global(const Instruction& instruction) {
  TAGALONG_AFTER_ONLY();
  if (stop_if_keys_are_asked(instruction)) {
    return;
  }
  emit(Op::delete_global, {top().function}, snapshot(), 0, Ref::create(name(static_cast<int>(instruction.arg))));
}

}  // namespace tagalong::recorder
