#include "recorder/inlining/call_returns.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "recorder/base/call_slots.h"
#include "recorder/base/instruction_kinds.h"
#include "recorder/inlining/lookups.h"
#include "replay/objects/overloads.h"
#include "rewriter/cpython/code_link.h"

namespace tagalong::recorder {

using replay::Attempt;
using replay::Attempts;
using replay::kNoSnapshot;
using replay::kNoValue;
using replay::Operator;
using replay::SlotCheck;

void CallReturns::return_from_inlined(Value value) {
  const SnapshotId at_return = snapshot_at(current_, top().stack);
  ShadowFrame callee = std::move(frames_.back());
  if (callee.return_kind == replay::ReturnKind::kNone) {
    release(value);
    value = callee.instance;  // the holder of the instance is now in the caller
  }
  leave_inlined(callee, at_return);
  flush_drops(callee.parent);
  frames_.pop_back();
  top().call_result = value;
  current_ = top().next;
  state_changed_ = true;
}

void CallReturns::leave_inlined(ShadowFrame& callee, SnapshotId at) {
  emit(callee.is_generator ? Op::fail_generator : Op::leave_frame, {}, at, callee.number);
  for (const Value local : callee.locals) {
    if (local != kNoValue) {
      release(local);
    }
  }
  release(callee.function);
}

ShadowFrame CallReturns::end_callee(Value declined) {
  const SnapshotId at_return = snapshot_at(current_, top().stack);
  ShadowFrame callee = std::move(frames_.back());
  leave_inlined(callee, at_return);
  if (declined != kNoValue) {
    release(declined);
  }
  flush_drops(callee.parent);
  frames_.pop_back();
  state_changed_ = true;
  return callee;
}

void CallReturns::finish_inlined() {
  const Value result = std::exchange(top().call_result, kNoValue);
  // The interpreter drops the operands in order, the first one first.
  Values& stack = top().stack;
  const Values popped(stack.end() - top().call_pops, stack.end());
  stack.resize(stack.size() - popped.size());
  state_changed_ = true;
  for (const Value value : popped) {
    release(value);
  }
  if (top().call_kind == replay::ReturnKind::kDiscard) {
    release(result);
  } else {
    push(result);
    if (kNullSlot != 0 && loads_method(instruction_at(top().call_instruction))) {
      push(null_value());
    }
  }
  const Consumption consuming = std::exchange(top().consuming, {});
  std::ranges::for_each(std::views::reverse(consuming.unpacked), [this](Value value) { push(value); });
  top().next = top().call_instruction + 1;
  flush_drops();
}

void CallReturns::return_checked(int check) {
  const Value value = pop();
  end_callee();
  top().checked = value;
  top().check = check;
  current_ = top().next;
}

Value CallReturns::take_checked() {
  const Value value = std::exchange(top().checked, kNoValue);
  const bool is_bool = abstract(value).exact == &PyBool_Type;
  if ((is_bool && top().check == static_cast<int>(SlotCheck::kTruth)) ||
      top().check == static_cast<int>(SlotCheck::kAnything)) {
    return value;
  }
  const Value result =
      emit(Op::finish_slot, {value}, snapshot_at(call_start(top().call_instruction), top().stack), top().check);
  hold(result);
  if (replay::is_truth_check(top().check)) {
    abstract(result).exact = &PyBool_Type;
    abstract(result).seen = &PyBool_Type;
  }
  release(value);
  flush_drops();
  return result;
}

void CallReturns::guard_next_attempt() {
  ShadowFrame& caller = frames_[frames_.size() - 2];
  caller.next_method = nullptr;
  const Operator what = Operator::of(top().operation);
  PyObject* const* end = cpython::stack_base(caller.live) + caller.stack.size();
  PyObject* left = end[-2];
  PyObject* right = end[-1];
  const Attempts attempts = replay::attempts_of(what.kind, what.argument, left, right);
  for (std::size_t next = static_cast<std::size_t>(what.attempt) + 1; next < attempts.size(); ++next) {
    const Attempt& attempt = attempts[next];
    PyObject* method = attempt.method == nullptr ? nullptr : look_up(Py_TYPE(attempt.receiver), attempt.method);
    if (method == nullptr && (attempt.method != nullptr || attempt.has_no_user_code)) {
      continue;
    }
    look_up(Py_TYPE(attempt.other), "__class__");
    if (method == nullptr || !PyFunction_Check(method) || !has_version(Py_TYPE(left)) || !has_version(Py_TYPE(right))) {
      return;
    }
    PyCodeObject* code = cpython::original_of(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(method)));
    constexpr int kOther = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
    if (code->co_argcount != 2 || code->co_kwonlyargcount != 0 || (code->co_flags & kOther) != 0) {
      return;
    }
    const SnapshotId here = snapshot();
    const auto guard_version = [&](Value value, PyTypeObject* type) {
      emit(Op::guard_type_version, {value}, here, cpython::type_version(type),
           Ref::create(reinterpret_cast<PyObject*>(type)));
    };
    guard_version(caller.stack[caller.stack.size() - 2], Py_TYPE(left));
    guard_version(caller.stack.back(), Py_TYPE(right));
    emit(Op::guard_function, {constant(method)}, here, 0, Ref::create(reinterpret_cast<PyObject*>(code)));
    caller.next_method = method;
    caller.next_attempt = static_cast<int>(next);
    return;
  }
}

void CallReturns::decline_operator() {
  const Value value = pop();
  const ShadowFrame callee = end_callee(value);
  current_ = top().next = top().call_instruction;
  top().declined = callee.operation;
}

void CallReturns::finish_declined() {
  const std::int32_t operation = std::exchange(top().declined, kNotDeclined);
  top().next_method = nullptr;
  current_ = top().call_instruction;
  Values& stack = top().stack;
  const SnapshotId here = snapshot_at(current_, stack);
  const Values operands(stack.end() - 2, stack.end());
  stack.resize(stack.size() - 2);
  state_changed_ = true;
  const Value result = emit(Op::finish_operator, operands, here, operation);
  hold(result);
  push(result);
  note(result, live_stack(0));
  release_operands();
}

void CallReturns::refuse_init_result() {
  const Value value = pop();
  const ShadowFrame callee = end_callee();
  current_ = top().call_instruction;
  top().next = current_;
  emit(Op::raise_init_result, {value}, kNoSnapshot);
  release(value);
  release(callee.instance);
  raise_in_caller();
}

void CallReturns::raise_in_caller() {
  ShadowFrame& caller = top();
  caller.raising.instruction = current_;
  caller.raising.shown = current_;
  caller.raising.is_emitted = true;
  const Values popped(caller.stack.end() - caller.call_pops, caller.stack.end());
  caller.stack.resize(caller.stack.size() - popped.size());
  state_changed_ = true;
  for (const Value value : popped) {
    release(value);
  }
  flush_drops();
}

bool CallReturns::is_inside_instruction() const {
  const ShadowFrame& frame = frames_.back();
  return frame.consuming.consumer != replay::Consumer::kNone || frame.declined != kNotDeclined ||
         frame.next_method != nullptr || frame.checked != replay::kNoValue || frame.call_result != replay::kNoValue;
}

}  // namespace tagalong::recorder
