#include "recorder/rules/control_rules.h"

#include <utility>

#include "recorder/base/instruction_kinds.h"
#include "replay/objects/overloads.h"
#include "replay/objects/unboxed.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoSnapshot;
using replay::SlotCheck;

void ControlRules::branch(const Instruction& /*instruction*/) {
  if (is_before_) {
    top().pending = current_;
    const bool iterates = is_in_loop() && instruction_at(current_).opcode == op::kFOR_ITER;
    top().iterated_items = iterates ? replay::iterated_type_of(live_stack(0)) : -1;
  }
}

void ControlRules::resolve_branch(int instruction, bool is_after) {
  if (top().pending < 0) {
    return;
  }
  const int place = std::exchange(top().pending, -1);
  note_unrecorded_code_in(place);
  const Instruction& branch = instruction_at(place);
  // If a SEND does not return, its value goes to the YIELD_VALUE behind it, which has its hook in front.
  const bool falls_through =
      branch.opcode == op::kSEND ? !is_after && instruction == place + 1 : is_after && instruction == place;
  const bool taken = !falls_through;
  current_ = place;
  switch (branch.opcode) {
    case op::kFOR_ITER:
      resolve_iteration(branch, taken);
      break;
    case op::kSEND:
      resolve_send(branch, taken);
      break;
    default:
      if (const std::optional<bool> jumps_if_none = none_jump(branch.opcode)) {
        resolve_none_jump(branch, *jumps_if_none, taken);
      } else {
        resolve_truth_jump(branch, taken);
      }
      break;
  }
  top().next = !taken ? place + 1 : branch.opcode == op::kFOR_ITER ? end_of_loop(branch) : branch.target;
  if (taken && branch.target <= place) {
    count_back_edge(branch.target);
  }
  current_ = instruction;
}

void ControlRules::resolve_iteration(const Instruction& instruction, bool exhausted) {
  const SnapshotId here = snapshot();
  Values other = top().stack;
  const Value iterator = other.back();
  const bool is_range = is_in_loop() && may_be_exact(iterator, &PyRangeIter_Type);
  if (is_range) {
    guard_exact(iterator, &PyRangeIter_Type, here);
  }
  const int items = std::exchange(top().iterated_items, -1);
  const bool is_array = items >= 0 && may_be_exact(iterator, &PySeqIter_Type);
  if (is_array) {
    guard_exact(iterator, &PySeqIter_Type, here);
  }
  PyObject* seen = exhausted ? nullptr : live_stack(1);
  const bool is_sequence = seen != nullptr && cpython::is_sequence_iterator(seen);
  const Value item = is_range   ? emit(Op::range_next, {iterator}, kNoSnapshot)
                     : is_array ? emit(Op::array_next, {iterator}, here, items)
                                : emit(Op::for_iter, {iterator}, here, is_sequence ? 1 : 0);
  if (is_range) {
    abstract(item).exact = &PyLong_Type;
  } else if (is_array) {
    abstract(item).exact = replay::type_of(replay::unboxed_of_items(items));
  }
  if (exhausted) {
    other.push_back(item);
    emit(Op::guard_null, {item}, snapshot_at(current_ + 1, other));
    forget_loop(current_);
    release(pop());
    flush_drops();
    return;
  }
  other.pop_back();
  hold(item);
  push(item);
  emit(Op::guard_not_null, {item}, snapshot_at(end_of_loop(instruction), other));
  note(item, live_stack(0));
}

// SEND: the sent value dies first. If the receiver has returned, it dies next, or in some versions at the target.
void ControlRules::resolve_send(const Instruction& instruction, bool returned) {
  const SnapshotId here = snapshot();
  const Value sent = pop();
  Values other = top().stack;
  const Value receiver = other.back();
  const Value yielded = emit(Op::send, {receiver, sent}, here);
  const Value result = yielded + 1;
  if (returned) {
    other.push_back(yielded);
    emit(Op::guard_null, {yielded}, snapshot_at(current_ + 1, other));
    if (!version::kSendKeepsReceiver) {
      pop();
    }
    hold(result);
    push(result);
    release(sent);
    if (!version::kSendKeepsReceiver) {
      release(receiver);
    }
  } else {
    if (!version::kSendKeepsReceiver) {
      other.pop_back();
    }
    other.push_back(result);
    emit(Op::guard_not_null, {yielded}, snapshot_at(instruction.target, other));
    hold(yielded);
    push(yielded);
    note(yielded, live_stack(0));
    release(sent);
  }
  flush_drops();
}

void ControlRules::resolve_none_jump(const Instruction& instruction, bool jumps_if_none, bool taken) {
  const Value value = pop();
  const SnapshotId other = snapshot_at(taken ? current_ + 1 : instruction.target, top().stack);
  emit(taken == jumps_if_none ? Op::guard_is : Op::guard_is_not, {value}, other, 0, Ref::create(Py_None));
  release(value);
  flush_drops();
}

void ControlRules::resolve_truth_jump(const Instruction& instruction, bool taken) {
  const auto [jumps_if_true, keeps_when_taken] = truth_jump(instruction.opcode).value_or(TruthJump());
  const Value value = top().stack.back();
  const bool is_truth_known = top().checked != replay::kNoValue;
  const Value truth = is_truth_known ? take_checked() : truth_of(value, snapshot());
  if (truth != value && !is_truth_known) {
    hold(truth);
  }
  // If the guard fails, the side exit continues at the other successor, so the truth is not evaluated again.
  Values other = top().stack;
  if (!keeps_when_taken || taken) {
    other.pop_back();
  }
  const SnapshotId leave = snapshot_at(taken ? current_ + 1 : instruction.target, other);
  emit(taken == jumps_if_true ? Op::guard_true : Op::guard_false, {truth}, leave);
  if (!keeps_when_taken || !taken) {
    release(pop());
  }
  if (truth != value) {
    release(truth);
  }
  flush_drops();
}

void ControlRules::jump_backward(const Instruction& instruction) {
  count_back_edge(instruction.target);
  if (!finished_) {
    top().next = instruction.target;
  }
}

void ControlRules::count_back_edge(int target) {
  const int rounds = ++top().back_edges[target];
  if (limits_.loops != 0 && record_jump_back(target)) {
    return;
  }
  if (rounds > limits_.unroll) {
    stop(Stop::k_unroll_limit);
  }
}

// A generator that an iteration has resumed has returned a value.
void ControlRules::end_for(const Instruction& /*instruction*/) {
  if (!is_before_) {
    release(pop());
    flush_drops();
  }
}

// The result of `yield from` or `await` stays, its receiver goes.
void ControlRules::end_send(const Instruction& /*instruction*/) {
  if (!is_before_) {
    const Value result = pop();
    release(pop());
    push(result);
    flush_drops();
  }
}

void ControlRules::to_bool(const Instruction& /*instruction*/) {
  if (is_before_) {
    return;
  }
  const Value value = top().stack.back();
  const Value truth = truth_of(value, snapshot());
  if (truth == value) {
    return;
  }
  pop();
  hold(truth);
  push(truth);
  release(value);
  flush_drops();
}

void ControlRules::return_value(const Instruction& /*instruction*/) { return_object(live_stack(0)); }

void ControlRules::return_const(const Instruction& instruction) {
  PyObject* object = frames_.back().code->decoded->assembly.constants[instruction.arg].get();
  const Value value = constant(object);
  hold(value);
  push(value);
  return_object(object);
}

void ControlRules::return_object(PyObject* object) {
  if (frames_.size() == 1) {
    const Value value = pop();
    emit(Op::return_value, {value}, snapshot_at(current_, top().stack));
    finish_trace();
    return;
  }
  if (top().is_generator) {
    return_to_consumer();
    return;
  }
  // The C code between caller and callee refuses some results and treats others specially. The trace guards against
  // those cases or records them.
  const Value value = top().stack.back();
  const bool is_known = abstract(value).exact != nullptr;
  if (top().return_kind == replay::ReturnKind::kOperator) {
    if (object == Py_NotImplemented) {
      emit(Op::guard_is, {value}, snapshot(), 0, Ref::create(Py_NotImplemented));
      guard_next_attempt();
      decline_operator();
      return;
    }
    if (!is_known) {
      emit(Op::guard_is_not, {value}, snapshot(), 0, Ref::create(Py_NotImplemented));
    }
    if (replay::Operator::of(top().operation).negates) {
      return_checked(static_cast<int>(SlotCheck::kAnyNot));
      return;
    }
  } else if (top().return_kind == replay::ReturnKind::kChecked) {
    return_checked(top().operation);
    return;
  } else if (top().return_kind == replay::ReturnKind::kBranch) {
    const bool by_length = replay::Branch::of(top().operation).by_length;
    return_checked(static_cast<int>(by_length ? SlotCheck::kLengthTruth : SlotCheck::kTruth));
    return;
  } else if (top().return_kind == replay::ReturnKind::kNone) {
    if (object != Py_None) {
      emit(Op::guard_is_not, {value}, snapshot(), 0, Ref::create(Py_None));
      refuse_init_result();
      return;
    }
    emit(Op::guard_is, {value}, snapshot(), 0, Ref::create(Py_None));
  }
  return_from_inlined(pop());
}

}  // namespace tagalong::recorder
