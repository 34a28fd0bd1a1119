// Rules: frames whose variables live in a mapping: bodies of modules and classes, code from exec() made a function.
#include <utility>

#include "recorder/session.h"

namespace tagalong::recorder {

using replay::kNoValue;

Value Session::names_value() {
  if (names_ == kNoValue) {
    names_ = emit(Op::names, {}, replay::kNoSnapshot);
    abstract(names_).counted = false;
  }
  return names_;
}

// The variables of a module's body are the globals, and nothing else can become of that while the frame lives.
void Session::find_names() {
  PyObject* names = cpython::names_of(top().live);
  has_plain_names_ = names == cpython::function_of(top().live)->func_globals && PyDict_CheckExact(names);
  if (has_plain_names_) {
    current_ = top().next;
    emit(Op::guard_names, {top().function}, snapshot());
    current_ = 0;
  }
}

void Session::load_name(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  if (stop_if_keys_are_asked(instruction)) {
    return;
  }
  const SnapshotId here = snapshot();
  Ref name_object = Ref::create(name(static_cast<int>(instruction.arg)));
  const Value result = has_plain_names_
                           ? emit(Op::load_global, {top().function}, here, 0, std::move(name_object))
                           : emit(Op::load_name, {top().function, names_value()}, here, 0, std::move(name_object));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void Session::store_name(const Instruction& instruction) {
  if (is_before_ || stop_if_keys_are_asked(instruction)) {
    return;
  }
  if (has_plain_names_) {
    bind_global(instruction);
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = names_value();
  const Value value = pop();
  emit(Op::store_name, {top().function, names, value}, here, 0, Ref::create(name(static_cast<int>(instruction.arg))));
  release(value);
  flush_drops();
}

void Session::delete_name(const Instruction& instruction) {
  if (is_before_ || stop_if_keys_are_asked(instruction)) {
    return;
  }
  const SnapshotId here = snapshot();
  Ref name_object = Ref::create(name(static_cast<int>(instruction.arg)));
  if (has_plain_names_) {
    emit(Op::delete_global, {top().function}, here, 0, std::move(name_object));
  } else {
    emit(Op::delete_name, {top().function, names_value()}, here, 0, std::move(name_object));
  }
}

void Session::load_classderef(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = names_value();
  const PyCodeObject* code = top().code->decoded->shape->code.get();
  const Value result = emit(Op::load_classderef, {names, top().locals[instruction.arg]}, here, 0,
                            Ref::create(PyTuple_GET_ITEM(code->co_localsplusnames, instruction.arg)));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

// IMPORT_STAR and PRINT_EXPR take a value.
void Session::use_value_and_names(const Instruction& instruction) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = names_value();
  const Value value = pop();
  const bool is_import = instruction.opcode == rewriter::op::kIMPORT_STAR;
  emit(is_import ? Op::import_star : Op::print_expr, {top().function, names, value}, here);
  release(value);
  flush_drops();
}

void Session::setup_annotations(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value names = names_value();
  emit(Op::setup_annotations, {top().function, names}, here);
}

}  // namespace tagalong::recorder
