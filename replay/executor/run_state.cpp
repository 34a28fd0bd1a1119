// Making the virtual frames of a run real: for code that may look at them, and for good at a side exit.
#include <algorithm>
#include <vector>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/executor/emergency.h"
#include "replay/executor/interpreter.h"
#include "replay/objects/operations.h"
#include "replay/objects/overloads.h"
#include "replay/passes/abstract_values.h"
#include "rewriter/cpython/exact_numbers.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/generators.h"
#include "rewriter/cpython/iterators.h"

namespace tagalong::replay {

// A frame of an inlined call. Null with an exception set.
cpython::Frame* Interpreter::push(PyFunctionObject* function, const CodeShape& shape) const {
  try {
    return cpython::push_frame(run_.thread, function, cpython::code_to_run(shape.code.get()).get());
  } catch (const PythonError&) {
    return nullptr;
  }
}

bool Interpreter::materialise(const LoweredSnapshot& snapshot, bool with_locals, bool leaves) {
  const auto nesting = static_cast<int>(snapshot.chain.size());
  for (int level = 0; with_locals && unboxed_ != nullptr && level < nesting; ++level) {
    if (!box_all(executor_.snapshots_[static_cast<std::size_t>(snapshot.chain[level])], leaves)) {
      return false;
    }
  }
  for (int level = 0; level < nesting; ++level) {
    const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(snapshot.chain[level])];
    const auto number = static_cast<std::size_t>(state.frame);
    if (level >= run_.depth) {
      PyObject* function = registers_[executor_.frame_functions_[number]];
      cpython::Frame* frame = push(reinterpret_cast<PyFunctionObject*>(function), *executor_.shapes_[number]);
      if (frame == nullptr) {
        return false;
      }
      if (level == 0) {
        cpython::set_names(frame, run_.names);
      }
      run_.frames[level] = frame;
      run_.frame_numbers[level] = state.frame;
      cpython::enter_recursion(run_.thread, recursion_levels(level));
      run_.depth = level + 1;
      run_.synced_keys[level] = -1;
    }
    TAGALONG_CHECK(run_.frame_numbers[level] == state.frame, "level {} is frame {}, not {}", level,
                   run_.frame_numbers[level], state.frame);
    cpython::set_location(run_.frames[level], unit_of(state));
  }
  for (int level = 0; with_locals && level < nesting; ++level) {
    const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(snapshot.chain[level])];
    if (run_.synced_keys[level] != state.key) {
      run_.synced_keys[level] = state.key;
      write_locals(run_.frames[level], state);
    }
  }
  return true;
}

bool dies_alone(PyObject* object) {
  if (is_plain(Py_TYPE(object)) || cpython::is_plain_slice(object)) {
    return true;
  }
  // As indices are: of numbers and slices.
  if (PyTuple_CheckExact(object)) {
    const auto is_noticed = [](PyObject* item) {
      return Py_REFCNT(item) == 1 && !is_plain(Py_TYPE(item)) && !cpython::is_plain_slice(item);
    };
    PyObject** items = PySequence_Fast_ITEMS(object);
    return std::none_of(items, items + PyTuple_GET_SIZE(object), is_noticed);
  }
  // Where no array has been met yet nobody looks for NumPy: the interpreter may be about to end.
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || Py_TYPE(object) != np->array_type) {
    return false;
  }
  const array::ArrayFields& fields = *array::as_array(object);
  const auto number = static_cast<unsigned>(reinterpret_cast<const array::DescrFields*>(fields.descr)->type_num);
  // A part of an array gives up what it is a part of.
  const bool is_base_noticed = fields.base != nullptr && ((fields.flags & array::kWriteBackIfCopy) != 0 ||
                                                          (Py_REFCNT(fields.base) == 1 && !dies_alone(fields.base)));
  return !is_base_noticed && fields.weakreflist == nullptr && array::is_handled(number);
}

// The object is about to die. Its finaliser, or that of what it holds, may look at the frames.
void Interpreter::show(SnapshotId id, PyObject* dying) {
  if (dies_alone(dying) || PyErr_Occurred() != nullptr) {
    return;
  }
  if (!materialise(executor_.snapshots_[static_cast<std::size_t>(id)], true)) {
    PyErr_Clear();  // no memory: who looks sees the frames as they were shown last
  }
}

// Calling a class counts towards the recursion limit, and its __init__ once more; comparisons and builtins count, too.
int Interpreter::recursion_levels(int level) const {
  constexpr int kBuiltinOperands = 3;  // NULL, the builtin, the object
  const FrameInfo& frame = executor_.graph_.frames[static_cast<std::size_t>(run_.frame_numbers[level])];
  switch (frame.return_kind) {
    case ReturnKind::kNone:
      return 2;
    case ReturnKind::kOperator:
      return Operator::of(frame.operation).kind == OperatorKind::kCompare ? 2 : 1;
    case ReturnKind::kChecked:
      return 1 + levels_of(frame.operation, frame.pops == kBuiltinOperands);
    default:
      return 1;
  }
}

// A tool that looks from outside, such as a sampler, finds the frame that the run has begun in near the place where the
// run is. Where code of the program's may look, the frames are made real.
void Interpreter::show_place(SnapshotId id) {
  if (id != kNoSnapshot && run_.depth > 0) {
    cpython::set_location(run_.frames[0], unit_of(outermost(id)));
  }
}

const LoweredSnapshot& Interpreter::outermost(SnapshotId id) const {
  const LoweredSnapshot& inner = executor_.snapshots_[static_cast<std::size_t>(id)];
  return executor_.snapshots_[static_cast<std::size_t>(inner.chain[0])];
}

int Interpreter::unit_of(const LoweredSnapshot& state) const {
  const auto instruction = static_cast<std::size_t>(state.instruction);
  if (state.frame == 0 && run_.root_units != nullptr) {
    return (*run_.root_units)[instruction];
  }
  return executor_.shapes_[static_cast<std::size_t>(state.frame)]->shown[instruction];
}

void Interpreter::write_locals(cpython::Frame* frame, const LoweredSnapshot& state) {
  PyObject** slots = cpython::locals_of(frame);
  for (std::size_t slot = 0; slot < state.locals.size(); ++slot) {
    const std::int32_t place = state.locals[slot];
    PyObject* value = place < 0 ? nullptr : registers_[place];
    PyObject* old = slots[slot];
    if (old != value) {
      slots[slot] = Py_XNewRef(value);
      Py_XDECREF(old);
    }
  }
}

// Where the frame of this number is among the real ones; -1: nowhere.
int Interpreter::real_level(std::int32_t frame) const {
  for (int level = 0; level < run_.depth; ++level) {
    if (run_.frame_numbers[level] == frame) {
      return level;
    }
  }
  return -1;
}

void Interpreter::sync_local(const Step& step) {
  const int level = real_level(static_cast<std::int32_t>(PyLong_AsLong(step.object)));
  if (level < 0) {
    return;
  }
  PyObject** slots = cpython::locals_of(run_.frames[level]);
  PyObject* value = registers_[executor_.registers_used_[step.operands]];
  PyObject* old = slots[step.immediate];
  if (old != value) {
    slots[step.immediate] = Py_XNewRef(value);
    run_.synced_keys[level] = -1;
    Py_XDECREF(old);
  }
}

void Interpreter::leave_frame(const Step& step) {
  if (run_.depth > 0 && run_.frame_numbers[run_.depth - 1] == step.immediate) {
    cpython::Frame* frame = run_.frames[run_.depth - 1];
    if (step.snapshot != kNoSnapshot && (cpython::is_held(frame) || cpython::has_locals_dict(frame))) {
      // Somebody will look at it after its return.
      const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(step.snapshot)];
      box_all(state, true);
      write_locals(frame, state);
      cpython::set_location(frame, unit_of(state));
    }
    if (step.snapshot != kNoSnapshot && cpython::has_locals_dict(frame)) {
      give_up_locals(step, executor_.snapshots_[static_cast<std::size_t>(step.snapshot)]);
    }
    pop_frame();
  }
}

// The slots of a frame die before its dict: what it holds, and what dies with it, is given up by the registers first.
void Interpreter::give_up_locals(const Step& step, const LoweredSnapshot& state) {
  const std::int32_t* drops = executor_.registers_used_.data() + step.operands + step.operand_count + step.result_count;
  for (const std::int32_t place : state.locals) {
    if (std::find(drops, drops + step.drop_count, place) != drops + step.drop_count) {
      Py_CLEAR(registers_[place]);
    }
  }
}

void Interpreter::clear_registers() {
  for (std::int32_t place = executor_.constant_count_; place < executor_.register_count_; ++place) {
    Py_CLEAR(registers_[place]);
  }
}

void Interpreter::clear_returned(const Step& step) {
  const auto number = static_cast<std::size_t>(&step - executor_.steps_.data());
  const auto known = std::ranges::find(executor_.returns_, number, &Executor::Return::step);
  if (known == executor_.returns_.end() || !known->held) {
    clear_registers();
    return;
  }
  for (const std::int32_t place : *known->held) {
    Py_CLEAR(registers_[place]);
  }
#ifdef TAGALONG_CHECKS
  for (std::int32_t place = executor_.constant_count_; place < executor_.register_count_; ++place) {
    TAGALONG_CHECK(registers_[place] == nullptr, "register {} of {} has something left", place, executor_.graph_.name);
  }
#endif
}

// What no frame has any more dies with the instruction that a guard stands behind, as an iterator at its end. Whoever
// looks then finds the frame there.
void Interpreter::give_up_rest(const Step& step) {
  const LoweredSnapshot& inner = executor_.snapshots_[static_cast<std::size_t>(step.snapshot)];
  if (step.rest == nullptr) {
    step.rest = std::make_unique<std::vector<std::int32_t>>(rest_of(inner));
  }
  bool is_shown = false;
  for (const std::int32_t place : *step.rest) {
    PyObject* object = registers_[place];
    if (object == nullptr || cpython::is_used_up(object) || dies_alone(object)) {
      continue;
    }
    if (!is_shown && Py_REFCNT(object) == 1) {
      is_shown = true;
      if (!materialise(inner, true)) {
        PyErr_Clear();  // leaving tries again
        return;
      }
      cpython::set_location(run_.frames[inner.chain.size() - 1], unit_of(ended_before(step, inner)));
    }
    Py_CLEAR(registers_[place]);
  }
}

// Registers of objects that are in none of the frames.
std::vector<std::int32_t> Interpreter::rest_of(const LoweredSnapshot& inner) const {
  std::vector<bool> is_left(static_cast<std::size_t>(executor_.register_count_), false);
  const auto leave = [&is_left](std::int32_t place) {
    if (place >= 0) {
      is_left[static_cast<std::size_t>(place)] = true;
    }
  };
  for (const SnapshotId id : inner.chain) {
    const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(id)];
    leave(executor_.frame_functions_[static_cast<std::size_t>(state.frame)]);
    leave(executor_.frame_instances_[static_cast<std::size_t>(state.frame)]);
    std::ranges::for_each(state.locals, leave);
    std::ranges::for_each(state.stack, leave);
  }
  std::vector<std::int32_t> rest;
  for (std::int32_t place = executor_.constant_count_; place < executor_.register_count_; ++place) {
    if (!is_left[static_cast<std::size_t>(place)] &&
        (executor_.loop_.kinds.empty() || kind_of(place) == Unboxed::kNone)) {
      rest.push_back(place);
    }
  }
  return rest;
}

// The state before the instruction that has led to this one in the same frame.
const LoweredSnapshot& Interpreter::ended_before(const Step& step, const LoweredSnapshot& here) const {
  for (const Step* each = &step; each != executor_.steps_.data();) {
    --each;
    if (each->snapshot != kNoSnapshot) {
      const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(each->snapshot)];
      if (state.frame == here.frame) {
        return state;
      }
    }
  }
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): snapshots are the executor's
  return here;
}

// The root frame returns: its locals die in the order of their slots, with the real frame if there is one.
// A number that nobody has seen needs no object for that: what its slot holds meanwhile is an older number.
void Interpreter::return_locals(const Step& step) {
  const auto number = static_cast<std::size_t>(&step - executor_.steps_.data());
  const auto known = std::ranges::find(executor_.returns_, number, &Executor::Return::step);
  if (run_.depth == 0 || known == executor_.returns_.end()) {
    return;
  }
  const bool is_seen = run_.frames[0]->frame_obj != nullptr;
  if (is_seen) {
    box_all(executor_.snapshots_[static_cast<std::size_t>(step.snapshot)], true);
  }
  PyObject** slots = cpython::locals_of(run_.frames[0]);
  for (const auto& [slot, place] : known->locals) {
    PyObject* value = place < 0 ? nullptr : registers_[place];
    if (value == nullptr && place >= 0 && unboxed_ != nullptr && kind_of(place) != Unboxed::kNone) {
      continue;
    }
    PyObject* old = slots[slot];
    if (old != value) {
      slots[slot] = Py_XNewRef(value);
      Py_XDECREF(old);
    }
  }
}

// The registers have what the suspended frame's stack held: a value must not live longer because it lay there.
void Interpreter::take_stack(std::int32_t depth) {
  PyObject** base = cpython::stack_base(run_.frames[0]);
  for (std::int32_t place = 0; place < depth; ++place) {
    Py_CLEAR(base[place]);
  }
}

// Frames that nobody needs any more (the run ends regularly, or a call-like run raised).
void Interpreter::pop_frames(int keep) {
  while (run_.depth > keep) {
    pop_frame();
  }
}

void Interpreter::pop_frame() {
  --run_.depth;
  cpython::leave_recursion(run_.thread, recursion_levels(run_.depth));
  cpython::Frame* frame = run_.frames[run_.depth];
  const auto number = static_cast<std::size_t>(run_.frame_numbers[run_.depth]);
  if (is_resumption(executor_.graph_.frames[number].return_kind)) {
    cpython::end_generator(run_.thread, frame);
  } else {
    cpython::pop_frame(run_.thread, frame);
  }
}

namespace {

// What C code does with the result of the Python function that it called (ReturnKind).
PyObject* finish_return(const FrameInfo& frame, PyObject* result, PyObject* instance, PyObject* const* caller_top,
                        PyObject* name) {
  const ReturnKind kind = frame.return_kind;
  TAGALONG_CHECK(kind == ReturnKind::kPlain || caller_top != nullptr, "the root frame returns as {}",
                 static_cast<int>(kind));
  if (kind == ReturnKind::kAttribute && result == nullptr) {
    complete_attribute_error(caller_top[-1], name);
    return nullptr;
  }
  if (result == nullptr || kind == ReturnKind::kPlain || kind == ReturnKind::kAttribute ||
      kind == ReturnKind::kDiscard || kind == ReturnKind::kIteration || is_resumption(kind)) {
    return result;
  }
  const Ref owned = Ref::steal(result);
  if (kind == ReturnKind::kOperator) {
    if (result == Py_NotImplemented) {
      return finish_operator(frame.operation, caller_top[-2], caller_top[-1]);
    }
    return Operator::of(frame.operation).negates ? finish_slot(static_cast<int>(SlotCheck::kAnyNot), result)
                                                 : Py_NewRef(result);
  }
  if (kind == ReturnKind::kChecked) {
    return finish_slot(frame.operation, result);
  }
  if (kind == ReturnKind::kBranch) {
    return finish_slot(
        static_cast<int>(Branch::of(frame.operation).by_length ? SlotCheck::kLengthTruth : SlotCheck::kTruth), result);
  }
  if (result != Py_None) {
    PyErr_Format(PyExc_TypeError, "__init__() should return None, not '%.200s'", Py_TYPE(result)->tp_name);
    return nullptr;
  }
  return Py_NewRef(instance);
}

// Where a conditional jump goes that has asked __bool__ or __len__.
struct BranchEnd {
  BranchEnd(const FrameInfo& returned, int instruction, PyObject* truth) {
    const Branch branch = Branch::of(returned.operation);
    const bool is_taken = (truth == Py_True) == branch.jumps_if_true;
    next = is_taken ? branch.target : instruction + 1;
    keeps = is_taken && branch.keeps_when_taken;
  }
  int next;
  bool keeps;  // the value stays on the stack
};

// Whether FOR_ITER takes the exception that __next__ has raised for the end of its loop; then it is gone.
bool ends_loop(const FrameInfo& returned, PyObject* result) {
  if (returned.return_kind != ReturnKind::kIteration || result != nullptr ||
      PyErr_ExceptionMatches(PyExc_StopIteration) == 0) {
    return false;
  }
  PyErr_Clear();
  return true;
}

}  // namespace

// What the caller's instruction does with what the frame that it has called or resumed has given: with its stack, of
// `depth` values and room for one more. Where it goes on; -1: it raises the exception that is set.
int Interpreter::take_result(const Given& given, int instruction, PyObject** stack, int& depth) {
  const FrameInfo& returned = *given.frame;
  const auto pop = [&](int count) {
    for (int place = depth - count; place < depth; ++place) {
      Py_XDECREF(stack[place]);  // one may be the NULL of the calling convention
    }
    depth -= count;
  };
  if (given.has_ended || ends_loop(returned, given.result)) {
    if (returned.return_kind == ReturnKind::kDelegation) {
      pop(1);  // what was sent
      pop(1);
      stack[depth++] = given.result;
    } else {
      Py_XDECREF(given.result);
      pop(1);  // the iterator
    }
    return returned.operation;
  }
  if (given.result != nullptr && returned.return_kind == ReturnKind::kBranch) {
    const BranchEnd end(returned, instruction, given.result);
    Py_DECREF(given.result);
    pop(end.keeps ? 0 : 1);
    return end.next;
  }
  if (given.result == nullptr) {
    if (is_resumption(returned.return_kind)) {
      pop(returned.pops);
    }
    return -1;
  }
  pop(returned.pops);
  if (returned.return_kind == ReturnKind::kDiscard) {
    Py_DECREF(given.result);
  } else {
    stack[depth++] = given.result;
  }
  return instruction + 1;
}

// An instruction gives up its operands before its exception leaves it, in the same order as after a success; unwinding
// would do it from the last to the first.
void Interpreter::drop_operands(const Step& step, const LoweredSnapshot& inner) {
  const std::int32_t* operands = executor_.registers_used_.data() + step.operands;
  const std::int32_t* operands_end = operands + step.operand_count;
  const std::int32_t* drops = operands_end + step.result_count;
  for (const std::int32_t* drop = drops; drop != drops + step.drop_count; ++drop) {
    auto others = -std::count(operands, operands_end, *drop);
    if (others == 0) {
      continue;  // something below the operands, which dies with the stack
    }
    for (const SnapshotId id : inner.chain) {
      const auto& stack = executor_.snapshots_[static_cast<std::size_t>(id)].stack;
      others += std::count(stack.begin(), stack.end(), *drop);
    }
    if (others <= 0) {
      Py_CLEAR(registers_[*drop]);
    }
  }
}

// Real frames that are in no state any more: their leave_frame was not done for want of memory.
void Interpreter::pop_ended(const LoweredSnapshot& state) {
  const auto is_in = [&](int level) {
    const auto place = static_cast<std::size_t>(level);
    return place < state.chain.size() &&
           executor_.snapshots_[static_cast<std::size_t>(state.chain[place])].frame == run_.frame_numbers[level];
  };
  const int first_real = run_.root != nullptr ? 1 : 0;
  int kept = first_real;
  while (kept < run_.depth && is_in(kept)) {
    ++kept;
  }
  pop_frames(kept);
}

Outcome Interpreter::leave(const Step& step, bool raise) {
  Ref type, value, traceback;
  const auto fetch = [&] {
    PyObject* parts[3] = {};
    PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
    type = Ref::steal(parts[0]);
    value = Ref::steal(parts[1]);
    traceback = Ref::steal(parts[2]);
  };
  if (raise) {
    fetch();
  }
  if (is_reserve_used()) [[unlikely]] {
    keep_for_emergencies();
  }
  SnapshotId state = step.snapshot;
  if (!run_.is_complete) {
    ++step.failures;
  }
  pop_ended(executor_.snapshots_[static_cast<std::size_t>(state)]);
  // Where there is no memory for an inlined frame, its caller raises that, as if the call had failed.
  while (!materialise(executor_.snapshots_[static_cast<std::size_t>(state)], true, true)) {
    raise = true;
    fetch();
    if (run_.depth == 0) {
      clear_registers();
      PyErr_Restore(type.release(), value.release(), traceback.release());
      return Outcome::kRaised;
    }
    state = executor_.snapshots_[static_cast<std::size_t>(state)].chain[static_cast<std::size_t>(run_.depth) - 1];
  }
  const LoweredSnapshot& inner = executor_.snapshots_[static_cast<std::size_t>(state)];
  if (lacks_numbers_ && !raise) [[unlikely]] {
    raise = true;
    PyErr_NoMemory();
    fetch();
  }
  if (raise && step.can_leave && state == step.snapshot) {
    drop_operands(step, inner);
  }
  if (run_.root != nullptr) {
    run_.side_exit = std::make_unique<SideExit>();
  }
  const int first_real = run_.root != nullptr ? 1 : 0;  // the root frame of a stub is not ours to run
  const auto nesting = static_cast<int>(inner.chain.size());
  std::vector<Kept> kept(static_cast<std::size_t>(nesting));
  for (int level = 0; level < nesting; ++level) {
    const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(inner.chain[level])];
    if (level < first_real) {
      for (std::size_t depth = 0; depth < state.depth(); ++depth) {
        run_.side_exit->stack.push_back(Py_XNewRef(registers_[state.stack[depth]]));
      }
    } else {
      PyObject** base = cpython::stack_base(run_.frames[level]);
      for (std::size_t depth = 0; depth < state.depth(); ++depth) {
        base[depth] = Py_XNewRef(registers_[state.stack[depth]]);
      }
    }
    const std::int32_t instance = executor_.frame_instances_[static_cast<std::size_t>(state.frame)];
    if (instance >= 0) {
      kept[static_cast<std::size_t>(level)].instance = Ref::create(registers_[instance]);
    }
    if (level + 1 < nesting || !raise) {
      keep_consumed(state, &kept[static_cast<std::size_t>(level)].consumed);
    }
  }
  clear_registers();
  if (raise) {
    const int depth = static_cast<int>(inner.depth());
    give_up_consumed(
        inner,
        (nesting > first_real ? cpython::stack_base(run_.frames[nesting - 1]) : run_.side_exit->stack.data()) + depth);
    PyErr_Restore(type.release(), value.release(), traceback.release());
  }
  return run_frames(inner, kept.data(), first_real, raise);
}

// From the innermost frame outwards every frame runs to its end (or yield) in the interpreter and gives its caller the
// result.
Outcome Interpreter::run_frames(const LoweredSnapshot& inner, Kept* kept, int first_real, bool raise) {
  Given given;
  const int innermost = run_.depth - 1;
  for (int level = innermost; level >= first_real; --level) {
    const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(inner.chain[level])];
    const auto number = static_cast<std::size_t>(state.frame);
    const CodeShape& shape = *executor_.shapes_[number];
    int instruction = state.instruction;
    auto depth = static_cast<int>(state.depth());
    PyObject** stack = cpython::stack_base(run_.frames[level]);
    if (state.consuming && !(level == innermost && raise)) {
      instruction = take_consumed(state.consuming, kept[level], given, state.instruction, stack, depth);
      raise = instruction < 0;
    } else if (level != innermost) {
      instruction = take_result(given, state.instruction, stack, depth);
      raise = instruction < 0;
    }
    const int unit = raise ? shape.shown[static_cast<std::size_t>(state.instruction)]
                           : shape.starts[static_cast<std::size_t>(instruction)];
    const FrameInfo& info = executor_.graph_.frames[number];
    given = {&info};
    cpython::leave_recursion(run_.thread);  // the interpreter counts it now
    if (is_resumption(info.return_kind)) {
      --run_.depth;
      continue_generator(given, run_.frames[level], unit, depth, raise);
    } else {
      given.result = cpython::run_frame(run_.thread, run_.frames[level], unit, depth, raise);
      cpython::enter_recursion(run_.thread);
      pop_frame();
    }
    PyObject* const* caller_top = nullptr;
    if (level > first_real) {
      const auto& caller = executor_.snapshots_[static_cast<std::size_t>(inner.chain[level - 1])];
      caller_top = cpython::stack_base(run_.frames[level - 1]) + caller.depth();
    } else if (level > 0) {
      caller_top = run_.side_exit->stack.data() + run_.side_exit->stack.size();
    }
    PyObject* attribute = nullptr;
    if (info.return_kind == ReturnKind::kAttribute) {
      const PyCodeObject* caller = executor_.shapes_[static_cast<std::size_t>(info.parent)]->code.get();
      attribute = PyTuple_GET_ITEM(caller->co_names, info.operation);
    }
    given.result = finish_return(info, given.result, kept[level].instance.get(), caller_top, attribute);
    kept[level].instance = Ref();  // its receiver is the only one who holds it now
  }
  if (first_real == 0) {
    run_.result = Ref::steal(given.result);
    return given.result != nullptr ? Outcome::kReturned : Outcome::kRaised;
  }
  SideExit& side_exit = *run_.side_exit;
  const LoweredSnapshot& root = executor_.snapshots_[static_cast<std::size_t>(inner.chain.front())];
  side_exit.instruction = root.instruction;
  side_exit.raise = raise;
  if (innermost > 0 || (root.consuming && !raise)) {
    auto depth = static_cast<int>(side_exit.stack.size());
    side_exit.stack.resize(side_exit.stack.size() + static_cast<std::size_t>(std::max(1, root.consuming.results)));
    const int next =
        root.consuming ? take_consumed(root.consuming, kept[0], given, root.instruction, side_exit.stack.data(), depth)
                       : take_result(given, root.instruction, side_exit.stack.data(), depth);
    side_exit.stack.resize(static_cast<std::size_t>(depth));
    side_exit.raise = next < 0;
    side_exit.instruction = side_exit.raise ? root.instruction : next;
  }
  if (side_exit.raise) {
    PyObject* parts[3] = {};
    PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
    side_exit.type = Ref::steal(parts[0]);
    side_exit.value = Ref::steal(parts[1]);
    side_exit.traceback = Ref::steal(parts[2]);
  }
  return Outcome::kLeft;
}

// A generator's frame goes on as after send() or throw().
void Interpreter::continue_generator(Given& given, cpython::Frame* frame, int unit, int depth, bool raise) const {
  const PySendResult status = cpython::continue_generator(run_.thread, frame, unit, depth, raise, &given.result);
  given.has_ended = status == PYGEN_RETURN;
  if (given.has_ended && given.frame->return_kind == ReturnKind::kSend) {
    given.has_ended = false;
    cpython::raise_stop_iteration(Ref::steal(given.result).get());
    given.result = nullptr;
  }
}

}  // namespace tagalong::replay
