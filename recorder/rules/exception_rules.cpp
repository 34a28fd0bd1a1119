#include "recorder/rules/exception_rules.h"

#include <algorithm>
#include <utility>

#include "recorder/base/instruction_kinds.h"
#include "recorder/code/rule_times.h"
#include "recorder/deferred/deferred_expression.h"
#include "rewriter/base/errors.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoSnapshot;
using replay::kNoValue;

void ExceptionRules::raise(const Instruction& /*instruction*/) { top().raising.instruction = current_; }

// Finds the instruction of the top frame that has raised. False: none has; the exception came from outside, and the
// trace has ended. `unit` is the code unit in recording code, or kUnknownUnit.
bool ExceptionRules::find_raising(int unit, PyObject* exception) {
  if (Expression::has_raised_late()) {
    // The shadow state is already behind the operation: replays raise there, and exit at a guard if they do not raise.
    stop(Stop::k_late_exception);
    return false;
  }
  Raising& raising = top().raising;
  const std::vector<int>& map = top().code->instruction_at;
  int instruction = -1;
  if (unit >= 0 && static_cast<std::size_t>(unit) < map.size()) {
    instruction = map[static_cast<std::size_t>(unit)];
  }
  if (instruction >= 0 && instruction != raising.instruction) {
    end_iteration();  // the raising instruction is behind the loop, and there was no hook in between
  }
  if (raising.instruction >= 0) {
    return true;
  }
  if (unit == kUnknownUnit) {
    // A pending branch may have raised itself, or an instruction behind it may have.
    instruction = top().pending < 0 ? run_pending_rules(-1) : -1;
  }
  if (instruction >= 0 && instruction_at(instruction).opcode == op::kPRECALL) {
    ++instruction;  // a specialised PRECALL makes the call
  }
  const bool has_returned = top().call_result != kNoValue;  // C code raises nothing more after a recorded call
  const auto cannot_raise = [this](int index) {
    const rewriter::Opcode opcode = instruction_at(index).opcode;
    return rule_time(opcode) == When::kNone || opcode == op::kJUMP_BACKWARD || returns(opcode);
  };
  if (instruction < 0 || has_returned || cannot_raise(instruction)) {
    if (instruction >= 0 && !has_returned) {
      // If a hook itself has raised, the rules of the instructions in front of it have not run yet.
      if (top().pending < 0 && run_pending_rules(instruction) != instruction) {
        abandon(Stop::k_interrupted);
        return false;
      }
      top().next = instruction;
    }
    stop(Stop::k_interrupted);
    return false;
  }
  raising.instruction = instruction;
  raising.has_no_memory = PyErr_GivenExceptionMatches(exception, PyExc_MemoryError) != 0;
  return true;
}

// Records what has happened since the last hook. False: that exceeded the limit of a loop's rounds.
bool ExceptionRules::run_pending_rules_before_raising() {
  if (top().raising.is_emitted) {
    return true;
  }
  const int raising = top().raising.instruction;
  if (advance_to(raising) && rule_time(instruction_at(raising).opcode) == When::kLater) {
    // For a specialised pair of instructions, the interpreter reports the first one.
    top().raising.instruction = run_pending_rules(-1);
  }
  if (finished_) {
    return false;
  }
  // Every instruction may raise MemoryError, but the nodes of most rules cannot record that.
  const bool has_no_memory = top().raising.has_no_memory;
  if (has_no_memory || asks_keys(instruction_at(top().raising.instruction))) {
    top().next = std::exchange(top().raising, {}).instruction;
    stop(has_no_memory ? Stop::k_interrupted : Stop::k_asks_keys);
  }
  return !finished_;
}

bool ExceptionRules::catch_exception(cpython::Frame* frame, int handler) {
  if (has_consumed()) {
    end_consumption();
    return false;
  }
  PyObject* exception = live_stack(0);
  int unit = kUnknownUnit;
  const Ref traceback = Ref::steal(PyException_GetTraceback(exception));
  const auto* entry = reinterpret_cast<PyTracebackObject*>(traceback.get());
  // An exception object that was made before (not by this raise) has no traceback entry for this frame.
  if (traceback && PyTraceBack_Check(traceback.get()) && entry->tb_frame->f_frame == frame) {
    unit = entry->tb_lasti / static_cast<int>(sizeof(rewriter::CodeUnit));
  }
  if (!find_raising(unit, exception) || !run_pending_rules_before_raising()) {
    return false;
  }
  emit_raising(false);
  const Raising raising = top().raising;
  const rewriter::ExceptionRange* range = top().code->decoded->range_of(raising.instruction);
  TAGALONG_CHECK(range != nullptr && range->target == handler, "instruction {} of {} has raised, caught at {}",
                 raising.instruction, graph_.name, handler);
  const SnapshotId here = snapshot_at(raising.shown, {});
  if (raising.adds_entry) {
    emit(Op::traceback_entry, {}, here);
  }
  Value lasti = kNoValue;
  if (range->lasti) {
    lasti = raising.lasti != kNoValue ? raising.lasti : emit(Op::lasti, {}, here);
    lasti_of_[lasti] = raising.shown;
    hold(lasti);
  }
  drop_stack(static_cast<std::size_t>(range->depth));
  if (lasti != kNoValue) {
    push(lasti);
    abstract(lasti).seen = &PyLong_Type;
  }
  const Value value = emit(Op::catch_exception, {}, here);
  hold(value);
  push(value);
  note(value, exception);
  top().raising = {};
  top().pending = -1;
  top().next = handler;
  return true;
}

void ExceptionRules::drop_stack(std::size_t depth) {
  while (top().stack.size() > depth) {
    release(pop());
  }
  flush_drops();
}

void ExceptionRules::emit_raising(bool leaves_root) {
  Raising& raising = top().raising;
  current_ = raising.instruction;
  if (raising.may_end_loop) {
    Values stack = top().stack;
    stack.pop_back();
    emit(Op::guard_no_stop_iteration, {}, snapshot_at(end_of_loop(instruction_at(current_)), stack));
  }
  if (raising.is_emitted) {
    return;
  }
  raising.is_emitted = true;
  raising.shown = raising.instruction;
  const Instruction& instruction = instruction_at(current_);
  const Value first_new = graph_.value_count;
  switch (instruction.opcode) {
    case op::kRAISE_VARARGS:
      raise_statement(instruction, leaves_root);
      return;
    case op::kEND_ASYNC_FOR:
      guard_stop_async_iteration(false);
      reraise_statement(instruction, leaves_root);
      return;
    case op::kRERAISE:
      reraise_statement(instruction, leaves_root);
      return;
    case op::kLOAD_FAST:
    case op::kLOAD_FAST_CHECK:
    case op::kDELETE_FAST: {
      PyObject* names = top().code->decoded->shape->code->co_localsplusnames;
      emit(Op::unbound_local, {}, snapshot(), 0, Ref::create(PyTuple_GET_ITEM(names, instruction.arg)));
      return;
    }
    default:
      break;
  }
  if (top().pending >= 0) {
    raise_in_branch(instruction);
  } else {
    raise_by_rule(instruction);
  }
  // The result of the raising instruction does not exist.
  while (!top().stack.empty() && top().stack.back() >= first_new) {
    release(pop());
  }
  flush_drops();
}

void ExceptionRules::raise_by_rule(const Instruction& instruction) {
  is_before_ = false;
  has_raised_ = true;
  if (top().declined != kNotDeclined) {
    finish_declined();
  } else if (top().checked != kNoValue) {
    top().call_result = take_checked();
    finish_inlined();
  } else {
    run_rule(instruction);
  }
  has_raised_ = false;
  expect_raise(snapshot_at(current_ + 1, top().stack));
}

void ExceptionRules::expect_raise(SnapshotId otherwise) { emit(Op::guard_raised, {}, otherwise); }

void ExceptionRules::end_iteration() {
  if (!top().raising.may_end_loop) {
    return;
  }
  current_ = top().raising.instruction;
  emit(Op::end_iteration, {}, snapshot_at(current_, top().stack));
  top().raising = {};
  release(pop());
  flush_drops();
  top().next = end_of_loop(instruction_at(current_));
}

// A branch whose operation has raised. If the operation does not raise in a replay, a guard for each outcome of the
// branch takes a side exit to the successor.
void ExceptionRules::raise_in_branch(const Instruction& instruction) {
  top().pending = -1;
  const SnapshotId here = snapshot();
  Values stack = top().stack;
  const Value value = stack.back();
  if (instruction.opcode == op::kFOR_ITER) {
    const Value item = emit(Op::for_iter, {value}, here);
    hold(item);
    Values next = stack;
    next.push_back(item);
    emit(Op::guard_null, {item}, snapshot_at(current_ + 1, next));
    stack.pop_back();
    expect_raise(snapshot_at(end_of_loop(instruction), stack));
    release(item);
    return;
  }
  if (instruction.opcode == op::kSEND) {
    const Value yielded = emit(Op::send, {stack[stack.size() - 2], value}, here);
    const Value returned = yielded + 1;
    hold(yielded);
    hold(returned);
    stack.back() = yielded;
    emit(Op::guard_null, {yielded}, snapshot_at(current_ + 1, stack));
    stack.pop_back();
    if (version::kSendKeepsReceiver) {
      stack.push_back(returned);
    } else {
      stack.back() = returned;
    }
    expect_raise(snapshot_at(instruction.target, stack));
    release(yielded);
    release(returned);
    return;
  }
  const auto [jumps_if_true, keeps_when_taken] = truth_jump(instruction.opcode).value_or(TruthJump());
  Value truth = kNoValue;
  if (top().checked != kNoValue) {
    truth = take_checked();
  } else {
    truth = emit(Op::to_bool, {value}, here);
    hold(truth);
  }
  Values popped = stack;
  popped.pop_back();
  const SnapshotId taken = snapshot_at(instruction.target, keeps_when_taken ? stack : popped);
  const SnapshotId not_taken = snapshot_at(current_ + 1, popped);
  emit(Op::guard_is_not, {truth}, jumps_if_true ? taken : not_taken, 0, Ref::create(Py_True));
  emit(Op::guard_is_not, {truth}, jumps_if_true ? not_taken : taken, 0, Ref::create(Py_False));
  expect_raise(here);
  release(truth);
  release(pop());
}

void ExceptionRules::raise_statement(const Instruction& instruction, bool leaves_root) {
  const SnapshotId here = snapshot();
  if (instruction.arg != 0) {
    Values& stack = top().stack;
    const Values operands(stack.end() - instruction.arg, stack.end());
    stack.erase(stack.end() - static_cast<std::ptrdiff_t>(operands.size()), stack.end());
    state_changed_ = true;
    emit(Op::raise, operands, here);
    release_operands();
    return;
  }
  // A bare `raise`. It does not change which exception is being handled, so that can still be asked now.
  const Ref active = Ref::steal(PyErr_GetHandledException());
  const Value handled = emit(Op::handled_exception, {}, kNoSnapshot);
  hold(handled);
  emit(active ? Op::guard_not_null : Op::guard_null, {handled}, here);
  top().raising.adds_entry = !active;
  if (!active) {
    emit(Op::raise, {}, here);
  } else if (leaves_root) {
    top().raising.is_side_exit = true;
    top().raising.here = here;
  } else {
    emit(Op::reraise, {handled}, kNoSnapshot);
  }
  release(handled);
  flush_drops();
}

void ExceptionRules::reraise_statement(const Instruction& instruction, bool leaves_root) {
  Raising& raising = top().raising;
  raising.adds_entry = false;
  const Values& stack = top().stack;
  if (instruction.arg != 0) {
    raising.lasti = stack[stack.size() - instruction.arg - 1];
    const auto known = lasti_of_.find(raising.lasti);
    raising.shown = known == lasti_of_.end() ? raising.instruction : known->second;
  }
  if (leaves_root) {
    raising.is_side_exit = true;
    raising.here = snapshot();
    return;
  }
  emit(Op::reraise, {stack.back()}, kNoSnapshot);
  release(pop());
  flush_drops();
}

void ExceptionRules::unwind(cpython::Frame* frame) {
  if (has_consumed()) {
    return end_consumption();
  }
  PyObject** base = cpython::stack_base(frame);  // holds the location of the raise, and the exception
  if (!find_raising(static_cast<int>(PyLong_AsLong(base[0])), base[1]) || !run_pending_rules_before_raising()) {
    return;
  }
  if (frames_.size() == 1) {
    unwind_root();
  } else {
    unwind_inlined();
  }
}

void ExceptionRules::unwind_root() {
  emit_raising(true);
  const Raising& raising = top().raising;
  if (raising.is_side_exit) {
    emit(Op::reraise_out, {}, raising.here);
  } else {
    emit(Op::raise_out, {}, snapshot_at(raising.instruction, top().stack));
  }
  finish_trace();
}

void ExceptionRules::unwind_inlined() {
  emit_raising(false);
  const Raising raising = top().raising;
  const SnapshotId here = snapshot_at(raising.shown, {});
  if (raising.adds_entry) {
    emit(Op::traceback_entry, {}, here);
  }
  drop_stack(0);
  ShadowFrame callee = std::move(frames_.back());
  leave_inlined(callee, here);
  if (callee.return_kind == replay::ReturnKind::kNone) {
    release(callee.instance);
  }
  flush_drops();
  frames_.pop_back();
  state_changed_ = true;
  ShadowFrame& caller = top();
  current_ = caller.call_instruction;
  caller.next = current_;
  // Records what the C code between callee and caller does with the exception.
  if (callee.return_kind == replay::ReturnKind::kAttribute) {
    emit(Op::complete_attribute_error, {caller.stack.back()}, kNoSnapshot, 0,
         Ref::create(name_of(instruction_at(current_))));
  }
  if (callee.return_kind == replay::ReturnKind::kConsumer) {
    abandon_consumer();
  }
  raise_in_caller();
  top().raising.may_end_loop = callee.return_kind == replay::ReturnKind::kIteration;
}

// --- rules of instructions that only handlers have

void ExceptionRules::push_exc_info(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const Value exception = pop();
  const Value before = emit(Op::push_exc_info, {exception}, kNoSnapshot);
  hold(before);
  push(before);
  push(exception);
  note(before, live_stack(1));
}

void ExceptionRules::pop_except(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value before = pop();
  emit(Op::pop_except, {before}, here);
  release(before);
  flush_drops();
}

void ExceptionRules::check_exc_match(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value pattern = pop();
  const Value result = emit(Op::check_exc_match, {top().stack.back(), pattern}, here);
  abstract(result).exact = &PyBool_Type;
  hold(result);
  push(result);
  note(result, live_stack(0));
  release(pattern);
  flush_drops();
}

void ExceptionRules::check_eg_match(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const SnapshotId here = snapshot();
  const Value pattern = pop();
  const Value exception = pop();
  const Value first = emit(Op::check_eg_match, {exception, pattern}, here);
  for (int index = 0; index < 2; ++index) {
    hold(first + index);
    push(first + index);
    note(first + index, live_stack(1 - index));
  }
  release(pattern);
  release(exception);
  flush_drops();
}

void ExceptionRules::with_except_start(const Instruction& /*instruction*/) {
  // From the top: the exception, the previous one, the location of the raise, __exit__.
  constexpr std::size_t kExit = 4;
  if (is_before_) {
    note_callee(live_stack(kExit - 1));
    return;
  }
  const Values& stack = top().stack;
  const Value result = emit(Op::with_except_start, {stack[stack.size() - kExit], stack.back()}, snapshot());
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void ExceptionRules::prep_reraise_star(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::prep_reraise_star, 2);
  }
}

}  // namespace tagalong::recorder
