// Generators. Those that are resumed inside the graph have their own frames, which are linked and suspended as the
// interpreter does it; what they do in between are steps.
#include "replay/executor/machine/boxing.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "rewriter/cpython/generators.h"

namespace tagalong::replay {

bool generator_matches(PyObject* value, const Step& step) {
  constexpr int kSpareRecursion = 40;
  // Eager execution polls inside the generator, after it has been resumed.
  if (cpython::is_anything_to_run(cpython::thread_state())) {
    return false;
  }
  cpython::Frame* frame = cpython::suspended_frame(value);
  if (frame == nullptr || cpython::unit_of(frame) != step.immediate ||
      PyWeakref_GET_OBJECT(PyTuple_GET_ITEM(step.object, 0)) != reinterpret_cast<PyObject*>(cpython::code_of(frame)) ||
      cpython::recursion_left(cpython::thread_state()) < kSpareRecursion) {
    return false;
  }
  PyObject* bound = PyTuple_GET_ITEM(step.object, 1);
  for (Py_ssize_t slot = 0; slot < PyBytes_GET_SIZE(bound); ++slot) {
    if ((cpython::locals_of(frame)[slot] != nullptr) != (PyBytes_AS_STRING(bound)[slot] != 0)) {
      return false;
    }
  }
  return true;
}

namespace {

bool leave_generator(RunState& state, const Step& step) {
  const LoweredSnapshot& snapshot = state.snapshot(step.snapshot);
  const bool ends = step.op != Op::leave_generator;
  if (ends) {
    materialise(state, snapshot, true, true);  // finalisers may look at the frames
  }
  if (!ends && !box_all(state, snapshot)) {
    return false;
  }
  --state.run.depth;
  cpython::leave_recursion(state.run.thread);
  cpython::Frame* frame = state.run.frames[state.run.depth];
  if (ends) {
    if (cpython::has_locals_dict(frame)) {
      drop_dead_locals(state, step, snapshot);
    }
    ActiveRun::remove(frame);
    cpython::end_generator(state.run.thread, frame);
    return true;
  }
  write_locals(state, frame, snapshot);
  ActiveRun::remove(frame);
  const auto depth = static_cast<int>(snapshot.stack.size()) - 1;  // without what is yielded
  PyObject** base = cpython::stack_base(frame);
  for (int place = 0; place < depth; ++place) {
    base[place] = Py_XNewRef(state.registers[snapshot.stack[static_cast<std::size_t>(place)]]);
  }
  cpython::suspend_generator(state.run.thread, frame, unit_of(state, snapshot), depth);
  return true;
}

}  // namespace

StepResult execute_inlined_generator(RunState& state, const Step& step, const std::int32_t* operands) {
  if (step.op == Op::raise_stop_iteration) {
    cpython::raise_stop_iteration(state.registers[operands[0]]);
    return StepResult::kRaised;
  }
  if (step.op != Op::enter_generator) {
    return leave_generator(state, step) ? StepResult::kNext : StepResult::kRaised;
  }
  // The callers have to be real, but no code sees their locals before a step inside synchronises them.
  const LoweredSnapshot& snapshot = state.snapshot(step.snapshot);
  if (state.run.depth < static_cast<int>(snapshot.chain.size()) && !materialise(state, snapshot, false)) {
    return StepResult::kRaised;
  }
  cpython::Frame* frame = cpython::suspended_frame(state.registers[operands[0]]);
  cpython::enter_generator(state.run.thread, frame);
  cpython::enter_recursion(state.run.thread);
  state.run.frames[state.run.depth] = frame;
  if (step.version1 == 0) {
    step.version1 = PyLong_AsUnsignedLong(step.object);
  }
  state.run.frame_numbers[state.run.depth] = static_cast<std::int32_t>(step.version1);
  state.run.synced_keys[state.run.depth] = -1;
  ++state.run.depth;
  // Like all real frames it keeps its locals, too; the values of its stack move to the registers.
  const std::int32_t* results = operands + step.operand_count;
  state.registers[results[0]] = Py_NewRef(reinterpret_cast<PyObject*>(cpython::function_of(frame)));
  const int slots = cpython::slot_count(cpython::code_of(frame));
  for (int slot = 0; slot + 1 < step.result_count; ++slot) {
    PyObject*& place = cpython::locals_of(frame)[slot];
    state.registers[results[slot + 1]] = Py_XNewRef(place);
    if (slot >= slots) {
      Py_CLEAR(place);
    }
  }
  return StepResult::kNext;
}

StepResult execute_generator(RunState& state, const Step& step, const std::int32_t* operands) {
  PyObject* receiver = state.registers[operands[0]];
  if (step.op == Op::get_yield_from_iter) {
    if (PyCoro_CheckExact(receiver)) {
      return step.immediate != 0 ? store(state, step, Py_NewRef(receiver)) : StepResult::kReexecute;
    }
    if (PyGen_CheckExact(receiver)) {
      return store(state, step, Py_NewRef(receiver));
    }
    return sync_frames(state, step) ? store(state, step, PyObject_GetIter(receiver)) : StepResult::kRaised;
  }
  if (step.op == Op::get_awaitable) {
    cpython::Frame* frame = PyCoro_CheckExact(receiver) ? cpython::suspended_frame(receiver) : nullptr;
    const bool is_new = frame != nullptr && cpython::has_not_started(frame);  // so it is not awaited yet
    return is_new ? store(state, step, Py_NewRef(receiver))
                  : execute_by_thunk(state, step, ThunkStep::get_awaitable, operands);
  }
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  PyObject* value = nullptr;
  const PySendResult status = PyIter_Send(receiver, state.registers[operands[1]], &value);
  if (status == PYGEN_ERROR) {
    return StepResult::kRaised;
  }
  const std::int32_t* results = operands + step.operand_count;
  state.registers[results[status == PYGEN_NEXT ? 0 : 1]] = value;
  return StepResult::kNext;
}

}  // namespace tagalong::replay
