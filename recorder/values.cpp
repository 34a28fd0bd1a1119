// The shadow state: which graph value sits in which slot, what is known of it, when eager execution drops it.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "recorder/abstract_values.h"
#include "recorder/deferred/array_proxy.h"
#include "recorder/rules/rule_table.h"
#include "recorder/session.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/objects/unboxed.h"
#include "rewriter/base/errors.h"

namespace tagalong::recorder {

using replay::kNoSnapshot;
using replay::kNoValue;

namespace {

// Fills an empty one; most have no more than a few values.
void fill(Values& values, ValueView with) {
  values.resize(static_cast<std::size_t>(with.end() - with.begin()), boost::container::default_init);
  std::ranges::copy(with, values.data());
}

}  // namespace

int Session::catch_up(int instruction) {
  int place = top().next;
  while (place != instruction) {
    const Instruction& passed = instruction_at(place);
    const When when = rule_time(passed.opcode);
    const bool is_unbound = passed.opcode == rewriter::op::kLOAD_FAST && top().locals[passed.arg] == kNoValue;
    if ((when != When::kLater && when != When::kNone) || is_unbound) {
      break;
    }
    if (when == When::kLater) {
      current_ = place;
      is_before_ = false;
      run(passed);
    }
    place = passed.opcode == rewriter::op::kJUMP_FORWARD ? passed.target : place + 1;
    top().next = place;
  }
  return place;
}

void Session::run(const Instruction& instruction) {
  if (others_ran_ && ran_ != current_) {
    look_for_watchers();
  }
  ran_ = current_;
  run_rule(*this, instruction);
  others_ran_in(current_);
}

void Session::note_others() {
  bool is_specialised = false;
  disturbed_ = instruction_under_way(&is_specialised);
  if (disturbed_ >= 0 && rule_time(instruction_at(disturbed_).opcode) == When::kBefore) {
    others_ran_in(disturbed_);
  }
}

void Session::others_ran_in(int instruction) {
  if (disturbed_ == instruction) {
    others_ran_ = true;
    disturbed_ = -1;
  }
}

void Session::look_for_watchers() {
  const auto place = static_cast<std::size_t>(current_);
  const int opcode = instruction_at(current_).opcode;
  // A delegating loop is left at its yield only, an exception on its way at its handler.
  const bool is_place = top().code->decoded->regular[place] && opcode != rewriter::op::kSEND &&
                        opcode != rewriter::op::kRESUME && opcode != rewriter::op::kYIELD_VALUE &&
                        opcode != rewriter::op::kJUMP_BACKWARD_NO_INTERRUPT;
  if (is_place && !finished_ && !has_raised_ && top().raising.instruction < 0 && top().checked == kNoValue &&
      top().call_result == kNoValue && top().declined == kNotDeclined) {
    others_ran_ = false;
    flush_drops();
    emit(replay::Op::guard_unwatched, {},
         call_start() == current_ ? snapshot() : snapshot_at(call_start(), top().stack));
  }
}

// The hook behind a branch fires where it is not taken. So one that is open at another instruction was taken.
bool Session::come_to(int instruction) {
  if (top().pending >= 0 && top().pending != instruction) {
    settle(instruction, false);
  }
  if (!finished_ && top().pending < 0) {
    catch_up(instruction);
  }
  return !finished_;
}

Value Session::pop() {
  Values& stack = top().stack;
  TAGALONG_CHECK(!stack.empty(), "the shadow stack is empty before instruction {}", current_);
  const Value value = stack.back();
  stack.pop_back();
  state_changed_ = true;
  return value;
}

void Session::push(Value value) {
  top().stack.push_back(value);
  state_changed_ = true;
}

void Session::release(Value value) {
  AbstractValue& known = abstract(value);
  if (--known.holders == 0 && known.counted) {
    drops_.push_back(value);
  }
}

// The operands of the node made last leave the stack.
void Session::release_operands() {
  for (const Value operand : graph_.nodes.back().operands) {
    release(operand);
  }
  flush_drops();
}

// From here on the graph alone holds what the root frame's stack held at entry.
void Session::take_root_stack() {
  if (root_stack_ != 0) {
    const int depth = std::exchange(root_stack_, 0);
    emit(Op::take_stack, {}, kNoSnapshot, depth);
  }
}

void Session::flush_drops(SnapshotId at) {
  if (!drops_.empty()) {
    if (std::ranges::any_of(drops_, [this](Value value) { return abstract(value).on_root_stack; })) {
      take_root_stack();
    }
    emit(Op::drop, drops_, at == kNoSnapshot ? position() : at);
    drops_.clear();
    is_position_known_ = false;  // what the last state has on its stack may be gone
  }
}

// The frames as a finaliser sees them: where they are and their locals. What lies on a stack nobody can see.
SnapshotId Session::position() {
  if (has_raised_ || top().raising.instruction >= 0) {
    return kNoSnapshot;  // the frames are real where an exception is under way
  }
  if (is_position_known_ && cached_instruction_ == current_) {
    const replay::Snapshot& last = graph_.snapshots[static_cast<std::size_t>(cached_snapshot_)];
    if (last.frame == top().number && last.parent == top().parent) {
      return cached_snapshot_;
    }
  }
  return snapshot_at(current_, {});
}

void Session::bind_local(int slot, Value value) {
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

SnapshotId Session::snapshot() {
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

SnapshotId Session::snapshot_at(int instruction, const Values& stack) {
  const ShadowFrame& frame = top();
  replay::Snapshot& state = graph_.snapshots.emplace_back();
  state.frame = frame.number;
  state.instruction = instruction;
  state.parent = frame.parent;
  fill(state.locals, frame.locals);
  fill(state.stack, stack);
  return static_cast<SnapshotId>(graph_.snapshots.size() - 1);
}

Value Session::emit(Op op, ValueView operands, SnapshotId here, std::int64_t immediate, Ref object) {
  const replay::OpInfo& row = replay::info(op);
  if (!row.is_invisible() && op != Op::drop && op != Op::leave_frame) {
    take_root_stack();
    entry_open_ = false;
  } else if (row.may_raise() && root_stack_ != 0 && place_ != DecodedCode::Place::kYield) {
    take_root_stack();  // what raises finds the stack in the graph's hands
  }
  if (object && (row.is_guard() || op == Op::constant)) {
    object = let_go(op, std::move(object));
  }
  // As Graph::add() does, without carrying the operands about: this is done for every instruction.
  replay::Node& node = graph_.nodes.emplace_back();
  node.op = op;
  node.immediate = immediate;
  node.object = std::move(object);
  fill(node.operands, operands);
  node.snapshot = here;
  node.line = instruction_at(std::max(current_, 0)).position.line;
  others_ran_ = others_ran_ || op == Op::call || op == Op::call_ex;
  node.result_count = row.results == replay::kVariadic ? static_cast<std::int32_t>(immediate) : row.results;
  if (node.result_count == 0) {
    return kNoValue;
  }
  node.first_result = graph_.value_count;
  graph_.value_count += node.result_count;
  for (std::int32_t result = 0; result < node.result_count; ++result) {
    abstract_values_.emplace_back();
  }
  return node.first_result;
}

Ref Session::let_go(Op op, Ref object) {
  const bool is_guard = replay::info(op).is_guard();
  if (op == Op::guard_generator || op == Op::known_call) {
    return object;  // that refers weakly by itself, or is kept for good
  }
  if (is_guard && PyTuple_CheckExact(object.get())) {
    const Ref expected = watched(PyTuple_GET_ITEM(object.get(), 1));
    object = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(object.get(), 0), expected.get()));
    if (!object) {
      throw PythonError();
    }
    return object;
  }
  // Code among the constants is the recorded code's own.
  return is_guard || !PyCode_Check(object.get()) ? watched(object.get()) : object;
}

// What stands for the object in the graph while it is recorded.
Ref Session::watched(PyObject* object) {
  if (!cpython::is_watchable(object)) {
    return Ref::create(object);
  }
  const auto known = watches_.find(object);
  if (known != watches_.end()) {
    return known->second;
  }
  Ref watch = cpython::watch(object, this);
  if (!watch) {
    throw PythonError();
  }
  watches_.emplace(object, watch);
  return watch;
}

// The end of the recording: the objects themselves are in the graph again, unless one of them is gone.
void Session::take_back() {
  for (replay::Node& node : graph_.nodes) {
    const bool is_guard = node.info().is_guard();
    if (!node.object || has_lost_ || node.op == Op::guard_generator) {
      continue;
    }
    if (is_guard && PyTuple_CheckExact(node.object.get())) {
      PyObject* expected = cpython::watched(PyTuple_GET_ITEM(node.object.get(), 1));
      has_lost_ = expected == nullptr;
      if (!has_lost_) {
        node.object = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(node.object.get(), 0), expected));
        has_lost_ = !node.object;
        if (has_lost_) {
          PyErr_Clear();  // no memory: then there is no graph either
        }
      }
    } else if (is_guard || node.op == Op::constant) {
      PyObject* object = cpython::watched(node.object.get());
      has_lost_ = object == nullptr;
      node.object = Ref::create(object);
    }
  }
}

void Session::object_died(PyObject* object) {
  has_lost_ = true;
  watches_.erase(object);
  constants_.erase(object);
}

Value Session::constant(PyObject* object) {
  const auto known = constants_.find(object);
  if (known != constants_.end()) {
    return known->second;
  }
  const Value value = emit(Op::constant, {}, kNoSnapshot, 0, Ref::create(object));
  abstract(value).counted = false;
  note(value, object);
  abstract(value).exact = Py_TYPE(object);
  constants_.emplace(object, value);
  return value;
}

Value Session::null_value() {
  const auto known = constants_.find(nullptr);
  if (known != constants_.end()) {
    return known->second;
  }
  const Value value = emit(Op::null, {}, kNoSnapshot);
  abstract(value).counted = false;
  abstract(value).is_null = true;
  constants_.emplace(nullptr, value);
  return value;
}

void Session::note(Value value, PyObject* object) {
  if (has_raised_) {
    return;  // there is no object
  }
  AbstractValue& known = abstract(value);
  known.is_null = object == nullptr;
  if (object != nullptr) {
    known.seen = Py_TYPE(object);
    if (limits_.loops != 0 && PyLong_CheckExact(object)) {
      int overflow = 0;
      static_cast<void>(PyLong_AsLongLongAndOverflow(object, &overflow));
      known.is_big = overflow != 0;
    }
  }
}

PyObject* Session::live_stack(int from_top) const {
  // What an instruction that raised has left means nothing.
  return has_raised_ ? nullptr : array_behind(live_top_[-1 - from_top]);
}

PyObject* Session::name(int index) const {
  return frames_.back().code->decoded->assembly.names[static_cast<std::size_t>(index)].get();
}

// A hint for what the graph is worth, which does not rely on it.
void Session::note_array(Op op) {
  PyObject* result = replay::has(op, replay::trait::kArrays) ? live_stack(0) : nullptr;
  if (result == nullptr || !is_array_type(Py_TYPE(result)) || array::numpy_if_ready() == nullptr) {
    return;
  }
  const array::ArrayFields& fields = *array::as_array(result);
  largest_array_ = std::max(largest_array_, std::accumulate(fields.dimensions, fields.dimensions + fields.nd,
                                                            std::int64_t{1}, std::multiplies<>()));
}

void Session::produce(Op op, int pops, std::int64_t immediate, Ref object) {
  const SnapshotId here = replay::info(op).wants_snapshot() ? snapshot() : kNoSnapshot;
  Values& stack = top().stack;
  const Value* end = stack.data() + stack.size();
  const Value result = emit(op, {end - pops, end}, here, immediate, std::move(object));
  stack.resize(stack.size() - static_cast<std::size_t>(pops));
  hold(result);
  push(result);
  note(result, live_stack(0));
  note_array(op);
  release_operands();
}

void Session::produce_keeping(Op op, int peeks, std::int64_t immediate, Ref object) {
  const SnapshotId here = replay::info(op).wants_snapshot() ? snapshot() : kNoSnapshot;
  const Values& stack = top().stack;
  const Value* end = stack.data() + stack.size();
  const Value result = emit(op, {end - peeks, end}, here, immediate, std::move(object));
  hold(result);
  push(result);
  note(result, live_stack(0));
}

void Session::consume(Op op, int pops, const std::vector<int>& order, Ref object, std::int64_t immediate) {
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

void Session::guard_exact(Value value, PyTypeObject* type, SnapshotId here) {
  if (abstract(value).exact != type && abstract(value).assumed == type) {
    abstract(value).exact = type;  // guarded in front of the loop
  }
  if (abstract(value).exact != type) {
    emit(Op::guard_type, {value}, here, 0, Ref::create(reinterpret_cast<PyObject*>(type)));
    abstract(value).exact = type;
  }
}

// The exact type int or float of a value, if that is established or may still be put into the entry check.
PyTypeObject* Session::known_number(Value value) const {
  const AbstractValue& known = abstract_values_[static_cast<std::size_t>(value)];
  PyTypeObject* type = known.exact != nullptr ? known.exact : (entry_open_ || is_in_loop() ? known.seen : nullptr);
  if (is_in_loop() && known.is_big) {
    return nullptr;
  }
  return type == &PyLong_Type || type == &PyFloat_Type ? type : nullptr;
}

// The exact type of a number that needs no object in a loop, NumPy's scalars among them.
PyTypeObject* Session::known_scalar(Value value) const {
  const AbstractValue& known = abstract_values_[static_cast<std::size_t>(value)];
  PyTypeObject* type = known.exact != nullptr ? known.exact : known.seen;
  return replay::unboxed_of(type) == replay::Unboxed::kNone || known.is_big ? nullptr : type;
}

bool Session::may_be_exact(Value value, PyTypeObject* type) const {
  const AbstractValue& known = abstract_values_[static_cast<std::size_t>(value)];
  return known.exact == type || (known.exact == nullptr && known.seen == type && !known.is_big);
}

bool Session::establish_numbers(Value left, Value right, SnapshotId here) {
  PyTypeObject* left_type = known_number(left);
  PyTypeObject* right_type = known_number(right);
  if (left_type == nullptr || right_type == nullptr) {
    return false;
  }
  guard_exact(left, left_type, here);
  guard_exact(right, right_type, here);
  return true;
}

}  // namespace tagalong::recorder
