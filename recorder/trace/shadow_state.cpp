#include "recorder/trace/shadow_state.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "recorder/base/hints.h"
#include "recorder/deferred/array_proxy.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/objects/operations.h"
#include "rewriter/base/errors.h"

namespace tagalong::recorder {

using replay::kNoSnapshot;
using replay::kNoValue;

Value ShadowState::pop() {
  Values& stack = top().stack;
  TAGALONG_CHECK(!stack.empty(), "the shadow stack is empty before instruction {}", current_);
  const Value value = stack.back();
  stack.pop_back();
  state_changed_ = true;
  return value;
}

void ShadowState::push(Value value) {
  top().stack.push_back(value);
  state_changed_ = true;
}

void ShadowState::release(Value value) {
  AbstractValue& known = abstract(value);
  if (--known.holders == 0 && known.counted) {
    drops_.push_back(value);
  }
}

void ShadowState::release_operands() {
  for (const Value operand : graph_.nodes.back().operands) {
    release(operand);
  }
  flush_drops();
}

void ShadowState::flush_drops(SnapshotId at) {
  if (!drops_.empty()) {
    if (std::ranges::any_of(drops_, [this](Value value) { return abstract(value).on_root_stack; })) {
      take_root_stack(line());
    }
    emit(Op::drop, drops_, at == kNoSnapshot ? position() : at);
    drops_.clear();
    is_position_known_ = false;  // values on the stack of the last state may have been dropped
  }
}

SnapshotId ShadowState::position() {
  if (has_raised_ || top().raising.instruction >= 0) {
    return kNoSnapshot;  // while an exception is being raised the frames are real
  }
  if (is_position_known_ && cached_instruction_ == current_) {
    const replay::Snapshot& last = graph_.snapshots[static_cast<std::size_t>(cached_snapshot_)];
    if (last.frame == top().number && last.parent == top().parent) {
      return cached_snapshot_;
    }
  }
  return snapshot_at(current_, {});
}

void ShadowState::bind_local(int slot, Value value) {
  Value& place = top().locals[static_cast<std::size_t>(slot)];
  const Value old = std::exchange(place, value);
  state_changed_ = true;
  is_position_known_ = false;
  if (old == kNoValue) {
    return;
  }
  cpython::KeptRef& number = top().number_object;
  if (!number) {
    number = Ref::steal(PyLong_FromLong(top().number));
    if (!number) {
      throw PythonError();
    }
  }
  emit(Op::sync_local, {value == kNoValue ? null_value() : value}, kNoSnapshot, slot, number);
  release(old);
}

SnapshotId ShadowState::snapshot() {
  if (!state_changed_ && cached_instruction_ == current_ && cached_frame_ == frames_.size()) {
    return cached_snapshot_;
  }
  cached_snapshot_ = snapshot_at(current_, top().stack);
  cached_instruction_ = current_;
  cached_frame_ = frames_.size();
  state_changed_ = false;
  is_position_known_ = true;
  return cached_snapshot_;
}

SnapshotId ShadowState::snapshot_at(int instruction, const Values& stack) {
  const ShadowFrame& frame = top();
  replay::Snapshot& state = graph_.snapshots.emplace_back();
  state.frame = frame.number;
  state.instruction = instruction;
  state.parent = frame.parent;
  fill(state.locals, frame.locals);
  fill(state.stack, stack);
  return static_cast<SnapshotId>(graph_.snapshots.size() - 1);
}

void ShadowState::produce(Op op, int pops, std::int64_t immediate, Ref object) {
  const SnapshotId here = replay::info(op).wants_snapshot() ? snapshot() : kNoSnapshot;
  Values& stack = top().stack;
  const Value* end = stack.data() + stack.size();
  const Value result = emit(op, {end - pops, end}, here, immediate, std::move(object));
  stack.resize(stack.size() - static_cast<std::size_t>(pops));
  hold(result);
  push(result);
  note(result, live_stack(0));
  note_array_result(op);
  release_operands();
}

void ShadowState::produce_keeping(Op op, int peeks, std::int64_t immediate, Ref object) {
  const SnapshotId here = replay::info(op).wants_snapshot() ? snapshot() : kNoSnapshot;
  const Values& stack = top().stack;
  const Value* end = stack.data() + stack.size();
  const Value result = emit(op, {end - peeks, end}, here, immediate, std::move(object));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void ShadowState::consume(Op op, int pops, const std::vector<int>& order, Ref object, std::int64_t immediate) {
  const SnapshotId here = snapshot();
  Values& stack = top().stack;
  const Values popped(stack.end() - pops, stack.end());
  stack.resize(stack.size() - static_cast<std::size_t>(pops));
  state_changed_ = true;
  Values operands;
  operands.reserve(order.size());
  for (const int place : order) {
    operands.push_back(popped[static_cast<std::size_t>(place)]);
  }
  emit(op, operands, here, immediate, std::move(object));
  for (const Value value : popped) {
    release(value);
  }
  flush_drops();
}

PyObject* ShadowState::live_stack(int from_top) const {
  // The operands of an instruction that raised have no defined value.
  return has_raised_ ? nullptr : array_behind(live_top_[-1 - from_top]);
}

PyObject* ShadowState::name(int index) const {
  return frames_.back().code->decoded->assembly.names[static_cast<std::size_t>(index)].get();
}

int ShadowState::call_start(int instruction) const { return frames_.back().code->decoded->call_start(instruction); }

PyObject* ShadowState::keyword_names() const {
  const rewriter::Assembly& assembly = frames_.back().code->decoded->assembly;
  const int names = rewriter::names_of_call(assembly, current_);
  return names < 0 ? nullptr : assembly.constants[instruction_at(names).arg].get();
}

void ShadowState::note_array_result(Op op) {
  PyObject* result = replay::has(op, replay::trait::kArrays) ? live_stack(0) : nullptr;
  if (result == nullptr || !is_array_type(Py_TYPE(result)) || array::numpy_if_ready() == nullptr) {
    return;
  }
  const array::ArrayFields& fields = *array::as_array(result);
  largest_array_ = std::max(largest_array_, std::accumulate(fields.dimensions, fields.dimensions + fields.nd,
                                                            std::int64_t{1}, std::multiplies<>()));
}

void ShadowState::note_unrecorded_code_in(int instruction) {
  if (unrecorded_code_in_ == instruction) {
    unrecorded_code_ran_ = true;
    unrecorded_code_in_ = -1;
  }
}

void ShadowState::check_shadow() const {
  const ShadowFrame& frame = top();
  const auto depth = static_cast<std::size_t>(live_top_ - cpython::stack_base(frame.live));
  TAGALONG_CHECK(frame.stack.size() == depth, "before instruction {} of {} the shadow stack has {} values, not {}",
                 current_, graph_.name, frame.stack.size(), depth);
  PyObject** base = cpython::stack_base(frame.live);
  for (std::size_t index = 0; index < depth; ++index) {
    const AbstractValue& known = abstract(frame.stack[index]);
    if (base[index] != array_behind(base[index])) {
      continue;  // a deferred array
    }
    TAGALONG_CHECK((base[index] == nullptr) == known.is_null, "stack slot {} before instruction {} of {}", index,
                   current_, graph_.name);
    // An assignment to __class__ changes the type only of objects of a heap type or a module type.
    const bool may_change =
        base[index] != nullptr &&
        (PyType_HasFeature(Py_TYPE(base[index]), Py_TPFLAGS_HEAPTYPE) != 0 || PyModule_Check(base[index]));
    TAGALONG_CHECK(base[index] == nullptr || known.seen == nullptr || may_change || Py_TYPE(base[index]) == known.seen,
                   "stack slot {} before instruction {} of {} is a {}, recorded as {}", index, current_, graph_.name,
                   Py_TYPE(base[index])->tp_name, known.seen->tp_name);
  }
  PyObject** slots = cpython::locals_of(frame.live);
  for (std::size_t slot = 0; slot < frame.locals.size(); ++slot) {
    TAGALONG_CHECK((slots[slot] == nullptr) == (frame.locals[slot] == replay::kNoValue),
                   "local slot {} before instruction {} of {}", slot, current_, graph_.name);
  }
}

}  // namespace tagalong::recorder
