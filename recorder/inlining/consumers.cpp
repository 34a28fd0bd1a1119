#include "recorder/inlining/consumers.h"

#include <opcode.h>

#include <array>
#include <string_view>
#include <utility>

#include "recorder/base/call_slots.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/text.h"
#include "rewriter/cpython/generators.h"
#include "version/builtins.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::Consumer;
using replay::kNoSnapshot;
using replay::kNoValue;
using replay::ReturnKind;

namespace {

struct Row {
  std::string_view name;
  Consumer consumer;
  std::string_view key = {};    // name of the keyword argument
  std::string_view other = {};  // another keyword name; sum() and next() also accept this argument as their second one
  int most = 1;                 // largest number of positional arguments
};

constexpr std::array kFunctions = {
    Row{"sum", Consumer::kSum, {}, "start", 2},
    Row{"any", Consumer::kAny},
    Row{"all", Consumer::kAll},
    Row{"min", Consumer::kSmallest, "key", "default"},
    Row{"max", Consumer::kLargest, "key", "default"},
    Row{"sorted", Consumer::kSort, "key", "reverse"},
    Row{"next", Consumer::kNext, {}, {}, 2},
};
struct TypeRow {
  PyTypeObject* type;
  std::string_view method;  // empty: the type itself is called
  Row row;
};
const std::array kTypes = {
    TypeRow{&PyList_Type, {}, {"list", Consumer::kList}},
    TypeRow{&PyTuple_Type, {}, {"tuple", Consumer::kTuple}},
    TypeRow{&PySet_Type, {}, {"set", Consumer::kSet}},
    TypeRow{&PyFrozenSet_Type, {}, {"frozenset", Consumer::kSet}},
    TypeRow{&PyDict_Type, {}, {"dict", Consumer::kDict}},
    TypeRow{&PyList_Type, "extend", {"extend", Consumer::kExtend}},
    TypeRow{&PySet_Type, "update", {"update", Consumer::kUpdate}},
    TypeRow{&PyDict_Type, "update", {"update", Consumer::kMerge}},
    TypeRow{&PyUnicode_Type, "join", {"join", Consumer::kJoin}},
    TypeRow{&PyBytes_Type, "join", {"join", Consumer::kJoin}},
};

const Row* row_of_function(PyObject* callable) {
  if (PyType_Check(callable)) {
    for (const TypeRow& each : kTypes) {
      if (callable == reinterpret_cast<PyObject*>(each.type) && each.method.empty()) {
        return &each.row;
      }
    }
    return nullptr;
  }
  PyObject* self = PyCFunction_CheckExact(callable) ? PyCFunction_GET_SELF(callable) : nullptr;
  if (self == nullptr || !PyModule_CheckExact(self)) {
    return nullptr;
  }
  const PyModuleDef* module = PyModule_GetDef(self);
  if (module == nullptr || std::string_view(module->m_name) != "builtins") {
    return nullptr;
  }
  const std::string_view name = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name;
  for (const Row& row : kFunctions) {
    if (row.name == name && !(version::kSumCompensates && row.consumer == Consumer::kSum)) {
      return &row;
    }
  }
  return nullptr;
}

const Row* row_of_method(PyObject* callable, PyObject* self) {
  if (Py_TYPE(callable) != &PyMethodDescr_Type) {
    return nullptr;
  }
  const auto* method = reinterpret_cast<PyMethodDescrObject*>(callable);
  for (const TypeRow& each : kTypes) {
    if (Py_TYPE(self) == each.type && method->d_common.d_type == each.type &&
        each.method == method->d_method->ml_name) {
      return &each.row;
    }
  }
  return nullptr;
}

bool is_list(Consumer consumer) {
  return consumer == Consumer::kList || consumer == Consumer::kTuple || consumer == Consumer::kExtend ||
         consumer == Consumer::kSort || consumer == Consumer::kJoin;
}

// Whether it can have its result before the generator ends.
bool stops_early(Consumer consumer) {
  return consumer == Consumer::kAny || consumer == Consumer::kAll || consumer == Consumer::kNext ||
         consumer == Consumer::kNextOr;
}

constexpr std::size_t kMade = 1;  // index in the state: total, list, set, dict
constexpr std::size_t kKey = 1;   // index in the state of kSmallest and kLargest
constexpr std::size_t kDefault = 2;
constexpr std::size_t kBest = 3;

}  // namespace

bool Consumers::is_consumed(cpython::Frame* callee) const {
  const Consumption& consuming = frames_.back().consuming;
  return consuming.consumer != Consumer::kNone && cpython::is_of_generator(callee, consuming.generator);
}

Consumers::Form Consumers::find_consumer(int number, cpython::Frame* callee) const {
  Form form;
  const Instruction& instruction = instruction_at(number);
  PyObject* const* end = cpython::stack_base(frames_.back().live) + frames_.back().stack.size();
  const auto is_generator = [&](int from_top) { return cpython::is_of_generator(callee, end[-from_top]); };
  switch (instruction.opcode) {
    case op::kCALL:
    case op::kCALL_KW:
      break;
    case op::kLIST_EXTEND:
    case op::kSET_UPDATE:
      if (is_generator(1)) {
        form.consumer = instruction.opcode == op::kLIST_EXTEND ? Consumer::kExtend : Consumer::kUpdate;
        form.container = static_cast<int>(instruction.arg) + 1;
        form.results = 0;
      }
      return form;
    case op::kUNPACK_SEQUENCE:
      if (is_generator(1)) {
        form.consumer = Consumer::kUnpack;
        form.results = static_cast<int>(instruction.arg);
      }
      return form;
    default:
      return form;
  }
  // The generator is the first argument, behind null and the function, or behind the method and self.
  constexpr int kFirst = kCallSlots;
  form.operands = operands_of_call(instruction);
  form.generator = kFirst;
  if (form.operands <= kFirst || !is_generator(form.operands - kFirst)) {
    return form;
  }
  const auto& stack = frames_.back().stack;
  const bool is_function = abstract(stack[stack.size() - form.operands + kNullSlot]).is_null;
  PyObject* callable = frames_.back().callable;
  const Row* row = is_function ? row_of_function(callable) : row_of_method(callable, end[1 - form.operands]);
  if (row == nullptr) {
    return form;
  }
  PyObject* names = keyword_names();
  const int keywords = names == nullptr ? 0 : static_cast<int>(PyTuple_GET_SIZE(names));
  const int positional = static_cast<int>(instruction.arg) - keywords;
  if (positional < 1 || positional > row->most) {
    return form;
  }
  for (int index = 0; index < keywords; ++index) {
    const std::string name = cpython::readable(PyTuple_GET_ITEM(names, index));
    if (name.empty() || (name != row->key && name != row->other)) {
      return form;
    }
    (name == row->key ? form.key : form.other) = kFirst + positional + index;
  }
  if (positional > 1) {
    form.other = form.other < 0 ? kFirst + 1 : form.operands;  // the argument was given twice
  }
  if (form.other == form.operands) {
    return form;
  }
  form.consumer = row->consumer;
  if (form.consumer == Consumer::kNext && form.other >= 0) {
    form.consumer = Consumer::kNextOr;
  }
  PyObject* other = form.other < 0 ? nullptr : end[form.other - form.operands];
  PyObject* key = form.key < 0 ? nullptr : end[form.key - form.operands];
  const bool is_plain =
      form.consumer != Consumer::kSum || other == nullptr || PyLong_CheckExact(other) || PyFloat_CheckExact(other);
  const bool has_odd_key = key == Py_None && form.consumer != Consumer::kSort;
  if (!is_plain || has_odd_key) {
    form.consumer = Consumer::kNone;
  }
  if (!is_function && form.consumer != Consumer::kJoin) {
    form.container = form.operands - 1;
  }
  return form;
}

// Called when an instruction resumes a generator for the first time, if the consumer is known.
bool Consumers::try_consume(cpython::Frame* callee, int instruction) {
  const Form form = find_consumer(instruction, callee);
  const HomeRef home = form.consumer == Consumer::kNone ? nullptr : sink_.home_of(cpython::code_of(callee));
  const int entry = home == nullptr ? -1 : find_entry(callee, home);
  if (entry < 0) {
    return false;
  }
  const SnapshotId here = snapshot_at(call_start(), top().stack);
  const Values& stack = top().stack;
  const Value generator = stack[stack.size() - static_cast<std::size_t>(form.operands - form.generator)];
  guard_consumer(form, here);
  guard_generator(callee, *home, generator, here);
  top().next = instruction;
  Consumption& consuming = top().consuming;
  consuming.consumer = form.consumer;
  consuming.generator = cpython::stack_base(top().live)[stack.size() - form.operands + form.generator];
  consuming.instruction = instruction;
  consuming.pops = form.operands;
  consuming.results = form.results;
  consuming.has_start = form.other >= 0;
  begin_consumer(form, here);
  enter_generator(callee, *home, entry, {ReturnKind::kConsumer, 0, 0, generator, consumer_snapshot()});
  return true;
}

// Called when the active consumer resumes the generator again.
bool Consumers::consume_more(cpython::Frame* callee) {
  current_ = top().consuming.instruction;
  finish_item(true);
  if (finished_) {
    return false;
  }
  if (top().consuming.items > limits_.unroll) {
    stop(Stop::k_unroll_limit);
    return false;
  }
  const HomeRef home = sink_.home_of(cpython::code_of(callee));
  const int entry = home == nullptr ? -1 : find_entry(callee, home);
  if (entry < 0) {
    return false;
  }
  const SnapshotId here = consumer_snapshot();
  const Value generator = top().stack[top().consuming.base];
  guard_generator(callee, *home, generator, here);
  enter_generator(callee, *home, entry, {ReturnKind::kConsumer, 0, 0, generator, here});
  return true;
}

void Consumers::guard_consumer(const Form& form, SnapshotId here) {
  if (!is_call(instruction_at(current_).opcode)) {
    return;
  }
  const Values& stack = top().stack;
  PyObject* const* live = cpython::stack_base(top().live) + stack.size() - form.operands;
  const Values operands(stack.end() - form.operands, stack.end());
  const bool is_function = abstract(operands[kNullSlot]).is_null;
  if (is_function && operands[kNullSlot] != null_value()) {
    emit(Op::guard_null, {operands[kNullSlot]}, here);
  }
  emit(Op::guard_is, {*callable_among(operands.data(), is_function)}, here, 0, Ref::create(top().callable));
  if (!is_function) {
    guard_exact(operands[1], Py_TYPE(live[1]), here);
  }
  if (form.consumer == Consumer::kSum && form.other >= 0) {
    guard_exact(operands[static_cast<std::size_t>(form.other)], Py_TYPE(live[form.other]), here);
  }
  if (form.key >= 0 && form.consumer != Consumer::kSort) {
    emit(Op::guard_is_not, {operands[static_cast<std::size_t>(form.key)]}, here, 0, Ref::create(Py_None));
  }
}

void Consumers::begin_consumer(const Form& form, SnapshotId here) {
  const Values before = top().stack;
  const std::size_t first = before.size() - static_cast<std::size_t>(form.operands);
  const auto operand = [&](int index) {
    return index < 0 ? null_value() : before[first + static_cast<std::size_t>(index)];
  };
  const auto keep = [this](Value value) {
    hold(value);
    push(value);
  };
  top().consuming.base = before.size();
  keep(operand(form.generator));
  Value container = form.container < 0 ? kNoValue : before[before.size() - static_cast<std::size_t>(form.container)];
  if (is_list(form.consumer)) {
    container = container == kNoValue ? emit(Op::build_list, {}, here) : container;
    keep(container);
    emit(Op::begin_extend, {container}, here);
  }
  switch (form.consumer) {
    case Consumer::kSum: {
      const Ref zero = Ref::steal(PyLong_FromLong(0));
      keep(form.other < 0 ? constant(zero.get()) : operand(form.other));
      return;
    }
    case Consumer::kSort:
    case Consumer::kSmallest:
    case Consumer::kLargest:
      keep(operand(form.key));
      keep(operand(form.other));
      return;
    case Consumer::kJoin:
      keep(operand(0));
      keep(operand(1));
      return;
    case Consumer::kSet:
      if (container == kNoValue && top().callable == reinterpret_cast<PyObject*>(&PyFrozenSet_Type)) {
        container = emit(Op::call, {null_value(), operand(1 - kNullSlot)}, here, 0, Ref::create(Py_None));
      }
      [[fallthrough]];
    case Consumer::kUpdate:
      keep(container == kNoValue ? emit(Op::build_set, {}, here) : container);
      return;
    case Consumer::kDict:
    case Consumer::kMerge:
      keep(container == kNoValue ? emit(Op::build_map, {}, here) : container);
      return;
    case Consumer::kNextOr:
      keep(operand(form.other));
      return;
    default:
      return;
  }
}

// The state of the frame while its consumer waits for an item or is about to use one.
SnapshotId Consumers::consumer_snapshot() {
  const Consumption& consuming = top().consuming;
  const SnapshotId id = snapshot_at(consuming.instruction, top().stack);
  graph_.snapshots[static_cast<std::size_t>(id)].consuming = {
      consuming.consumer, static_cast<std::int32_t>(top().stack.size() - consuming.base),
      consuming.items,    consuming.has_item,
      consuming.pops,     consuming.results};
  return id;
}

// The generator has yielded an item to its consumer.
void Consumers::have_item(Value value, PyObject* object) {
  Consumption& consuming = top().consuming;
  current_ = consuming.instruction;
  push(value);
  consuming.has_item = true;
  consuming.is_pair = PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == 2;
}

// Records how the consumer has used its item: it asks for another one, or has its result.
void Consumers::finish_item(bool wants_more) {
  Consumption& consuming = top().consuming;
  if (!consuming.has_item) {
    return;
  }
  const bool is_expected = wants_more ? consuming.consumer != Consumer::kNext && consuming.consumer != Consumer::kNextOr
                                      : stops_early(consuming.consumer);
  const bool is_dict = consuming.consumer == Consumer::kDict || consuming.consumer == Consumer::kMerge;
  const bool is_too_many = consuming.consumer == Consumer::kUnpack && consuming.items == consuming.results;
  if (!is_expected || (is_dict && !consuming.is_pair) || is_too_many) {
    return end_trace();
  }
  const SnapshotId here = consumer_snapshot();
  const Value item = pop();
  const auto state = [this](std::size_t place) -> Value& { return top().stack[top().consuming.base + place]; };
  Value key = kNoValue;
  switch (consuming.consumer) {
    case Consumer::kSum:
      add_item(state(kMade), item, here);
      break;
    case Consumer::kSet:
    case Consumer::kUpdate:
      emit(Op::set_add, {state(kMade), item}, here);
      break;
    case Consumer::kDict:
    case Consumer::kMerge: {
      emit(Op::guard_tuple, {item}, here, 2);
      const Value name = emit(Op::tuple_item, {item}, kNoSnapshot, 0);
      const Value value = emit(Op::tuple_item, {item}, kNoSnapshot, 1);
      hold(name);
      hold(value);
      emit(Op::map_add, {state(kMade), name, value}, here);
      release(name);
      release(value);
      break;
    }
    case Consumer::kAny:
    case Consumer::kAll:
      decide(item, here, wants_more);
      if (!wants_more) {
        return;
      }
      break;
    case Consumer::kSmallest:
    case Consumer::kLargest:
      key = compare_item(item, here);
      break;
    case Consumer::kNext:
    case Consumer::kNextOr:
      end_call_with(item);
      return release(item);
    case Consumer::kUnpack:
      push(item);
      hold(item);
      break;
    default:
      emit(Op::list_append, {state(kMade), item}, here);
      break;
  }
  release(item);
  if (key != kNoValue) {
    release(key);
  }
  flush_drops();
  consuming.has_item = false;
  ++consuming.items;
  state_changed_ = true;
}

void Consumers::add_item(Value& total, Value item, SnapshotId here) {
  const bool is_float = known_number(total) == &PyFloat_Type || known_number(item) == &PyFloat_Type;
  const bool is_known = establish_numbers(total, item, here);
  const Value sum =
      emit(is_known ? (is_float ? Op::float_binary : Op::int_binary) : Op::binary_op, {total, item}, here, NB_ADD);
  if (is_known) {
    abstract(sum).exact = abstract(sum).seen = is_float ? &PyFloat_Type : &PyLong_Type;
  }
  hold(sum);
  release(std::exchange(total, sum));
}

// any() and all(): evaluate the truth of the item once, whatever the item is.
void Consumers::decide(Value item, SnapshotId here, bool wants_more) {
  const Consumption& consuming = top().consuming;
  const bool is_true = wants_more == (consuming.consumer == Consumer::kAll);
  const Value truth = truth_of(item, here);
  if (truth != item) {
    hold(truth);
  }
  const Value decided = constant(consuming.consumer == Consumer::kAny ? Py_True : Py_False);
  SnapshotId other = kNoSnapshot;
  if (wants_more) {
    Values stack = top().stack;
    stack.push_back(decided);
    other = snapshot_at(consuming.instruction, stack);
    graph_.snapshots[static_cast<std::size_t>(other)].consuming = {
        Consumer::kResult, static_cast<std::int32_t>(stack.size() - consuming.base),
        consuming.items,   false,
        consuming.pops,    consuming.results};
  } else {
    top().consuming.has_item = false;
    ++top().consuming.items;
    other = consumer_snapshot();
  }
  emit(is_true ? Op::guard_true : Op::guard_false, {truth}, other);
  if (truth != item) {
    release(truth);
  }
  if (!wants_more) {
    release(item);
    flush_drops();
    end_call_with(decided);
  }
}

// The value that the key function gave for the item dies afterwards.
Value Consumers::compare_item(Value item, SnapshotId here) {
  const int comparison = top().consuming.consumer == Consumer::kSmallest ? Py_LT : Py_GT;
  const std::size_t base = top().consuming.base;
  const Value function = top().stack[base + kKey];
  const bool has_key = function != null_value();
  Value key = kNoValue;
  if (has_key) {
    key = emit(Op::call, {null_value(), function, item}, here, 0, Ref::create(Py_None));
    hold(key);
  }
  if (top().stack.size() == base + kBest) {
    hold(item);
    push(item);
    if (has_key) {
      push(key);
    }
    return kNoValue;
  }
  const Value best = top().stack[base + kBest];
  if (!has_key) {
    const Value better = emit(Op::better, {best, item}, here, comparison);
    hold(better);
    top().stack[base + kBest] = better;
    state_changed_ = true;
    release(best);
    return kNoValue;
  }
  const Value best_key = top().stack[base + kBest + 1];
  const Value better = emit(Op::better_by_key, {best, best_key, item, key}, here, comparison);
  hold(better);
  hold(better + 1);
  top().stack[base + kBest] = better;
  top().stack[base + kBest + 1] = better + 1;
  state_changed_ = true;
  release(best_key);
  release(best);
  return key;
}

// The generator has returned.
void Consumers::end_consumer() {
  Consumption& consuming = top().consuming;
  current_ = consuming.instruction;
  top().next = current_;
  const SnapshotId here = consumer_snapshot();
  const auto state = [this](std::size_t place) { return top().stack[top().consuming.base + place]; };
  const bool is_list_kept = consuming.consumer == Consumer::kList || consuming.consumer == Consumer::kExtend ||
                            consuming.consumer == Consumer::kSort;
  if (is_list_kept) {
    emit(Op::end_extend, {state(kMade)}, here);
  }
  switch (consuming.consumer) {
    case Consumer::kSum:
      // For a sum without items that has a start, C code may make another object.
      return consuming.items == 0 && consuming.has_start ? end_trace() : end_call_with(state(kMade));
    case Consumer::kTuple: {
      const Value tuple = emit(Op::list_to_tuple, {state(kMade)}, here);
      return end_call_with(tuple);
    }
    case Consumer::kSort:
      sort_items(here);
      return end_call_with(state(kMade));
    case Consumer::kJoin: {
      constexpr std::size_t kMethod = 2;
      const Value text =
          emit(Op::call, {state(kMethod), state(kMethod + 1), state(kMade)}, here, 0, Ref::create(Py_None));
      return end_call_with(text);
    }
    case Consumer::kExtend:
    case Consumer::kUpdate:
    case Consumer::kMerge:
      return end_call_with(constant(Py_None));
    case Consumer::kAny:
      return end_call_with(constant(Py_False));
    case Consumer::kAll:
      return end_call_with(constant(Py_True));
    case Consumer::kSmallest:
    case Consumer::kLargest:
      if (consuming.items == 0 && !consuming.has_start) {
        return end_trace();
      }
      return end_call_with(state(consuming.items == 0 ? kDefault : kBest));
    case Consumer::kUnpack:
      if (consuming.items != consuming.results) {
        return end_trace();
      }
      return end_call_with(kNoValue);
    default:
      return end_call_with(state(kMade));
  }
}

void Consumers::sort_items(SnapshotId here) {
  constexpr std::size_t kSortKey = 2;
  static PyObject* const method = PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyList_Type), "sort");
  const std::size_t base = top().consuming.base;
  Values operands = {constant(method), top().stack[base + kMade]};
  const Ref names = Ref::steal(PyList_New(0));
  for (std::size_t place = kSortKey; names && place < kSortKey + 2; ++place) {
    const Value value = top().stack[base + place];
    if (value == null_value()) {
      continue;
    }
    operands.push_back(value);
    const Ref text = Ref::steal(PyUnicode_InternFromString(place == kSortKey ? "key" : "reverse"));
    if (!text || PyList_Append(names.get(), text.get()) != 0) {
      throw PythonError();
    }
  }
  Ref keywords = names ? Ref::steal(PyList_AsTuple(names.get())) : Ref();
  if (!keywords) {
    throw PythonError();
  }
  const bool has_keywords = PyTuple_GET_SIZE(keywords.get()) != 0;
  const Value none = emit(Op::call, operands, here, 0, has_keywords ? keywords : Ref::create(Py_None));
  hold(none);
  release(none);
  flush_drops();
}

// The consumer's call has this result (kNoValue: unpacked values). The instruction ends at the next hook.
void Consumers::end_call_with(Value result) {
  ShadowFrame& caller = top();
  const Consumption consuming = std::exchange(caller.consuming, {});
  if (result == kNoValue) {
    caller.consuming.unpacked.assign(caller.stack.begin() + static_cast<std::ptrdiff_t>(consuming.base) + 1,
                                     caller.stack.end());
    for (const Value value : caller.consuming.unpacked) {
      hold(value);
    }
  } else if (consuming.results != 0) {
    hold(result);
  }
  while (caller.stack.size() > consuming.base) {
    release(pop());
  }
  flush_drops();
  const bool has_result = result != kNoValue && consuming.results != 0;
  caller.consuming.is_over = true;
  caller.call_result = has_result ? result : null_value();
  caller.call_kind = has_result ? ReturnKind::kPlain : ReturnKind::kDiscard;
  caller.call_pops = consuming.pops;
  caller.call_instruction = consuming.instruction;
  caller.next = current_ = consuming.instruction;
  state_changed_ = true;
}

// An exception of the generator's body leaves through the consumer, which releases its state.
void Consumers::abandon_consumer() {
  const Consumption consuming = std::exchange(top().consuming, {});
  while (top().stack.size() > consuming.base) {
    release(pop());
  }
  flush_drops();
  top().call_pops = consuming.pops;
}

// Ends the trace: the consumer's instruction has raised, or the recorder cannot tell how the consumer used the item.
void Consumers::end_consumption() {
  if (top().call_result != kNoValue) {
    finish_inlined();
  }
  end_trace();
}

void Consumers::yield_to_consumer() {
  const SnapshotId at_yield = snapshot_at(current_, top().stack);
  PyObject* object = live_stack(0);
  const Value value = pop();
  emit(Op::leave_generator, {value}, at_yield, top().number);
  const ShadowFrame generator = std::move(frames_.back());
  release_generator(generator);
  if (generator.return_kind == replay::ReturnKind::kConsumer) {
    return have_item(value, object);
  }
  top().call_result = value;
  current_ = top().next;
}

void Consumers::return_to_consumer() {
  const SnapshotId at_return = snapshot_at(current_, top().stack);
  const Value value = pop();
  emit(Op::finish_generator, {value}, at_return, top().number);
  const ShadowFrame generator = std::move(frames_.back());
  release_generator(generator);
  current_ = top().call_instruction;
  switch (generator.return_kind) {
    case ReturnKind::kDelegation:
      release(pop());  // the sent value
      if (!version::kSendKeepsReceiver) {
        release(pop());
      }
      push(value);
      break;
    case ReturnKind::kSend:
      emit(Op::raise_stop_iteration, {value}, kNoSnapshot);
      release(value);
      raise_in_caller();
      return;
    case ReturnKind::kConsumer:
      if (top().consuming.consumer == replay::Consumer::kNext) {
        abandon_consumer();
        emit(Op::raise_stop_iteration, {value}, kNoSnapshot);
        release(value);
        raise_in_caller();
        return;
      }
      release(value);
      return end_consumer();
    default:
      release(value);
      release(pop());  // the iterator
      break;
  }
  flush_drops();
  top().finished_resumption = current_;
  top().next = current_ = generator.operation;
}

}  // namespace tagalong::recorder
