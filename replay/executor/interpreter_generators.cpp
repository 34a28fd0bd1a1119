// Generators that are resumed inside a graph: their own frames are linked and suspended as the interpreter does it,
// only what they do in between are steps.
#include "replay/executor/interpreter.h"
#include "rewriter/cpython/generators.h"

namespace tagalong::replay {

bool Interpreter::generator_matches(PyObject* value, const Step& step) {
  constexpr int kSpareRecursion = 40;
  // Eager execution looks when the generator has begun to run, inside of it.
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

Interpreter::StepResult Interpreter::execute_inlined_generator(const Step& step, const std::int32_t* operands) {
  if (step.op == Op::raise_stop_iteration) {
    cpython::raise_stop_iteration(registers_[operands[0]]);
    return StepResult::kRaised;
  }
  if (step.op != Op::enter_generator) {
    return leave_generator(step) ? StepResult::kNext : StepResult::kRaised;
  }
  // Nobody looks before a step inside that syncs: the callers need only be there.
  const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(step.snapshot)];
  if (run_.depth < static_cast<int>(state.chain.size()) && !materialise(state, false)) {
    return StepResult::kRaised;
  }
  cpython::Frame* frame = cpython::suspended_frame(registers_[operands[0]]);
  cpython::enter_generator(run_.thread, frame);
  cpython::enter_recursion(run_.thread);
  run_.frames[run_.depth] = frame;
  if (step.version1 == 0) {
    step.version1 = PyLong_AsUnsignedLong(step.object);
  }
  run_.frame_numbers[run_.depth] = static_cast<std::int32_t>(step.version1);
  run_.synced_keys[run_.depth] = -1;
  ++run_.depth;
  // The frame keeps its locals, too, as those that are made real do; what lies on its stack is the graph's.
  const std::int32_t* results = operands + step.operand_count;
  registers_[results[0]] = Py_NewRef(reinterpret_cast<PyObject*>(cpython::function_of(frame)));
  const int slots = cpython::slot_count(cpython::code_of(frame));
  for (int slot = 0; slot + 1 < step.result_count; ++slot) {
    PyObject*& place = cpython::locals_of(frame)[slot];
    registers_[results[slot + 1]] = Py_XNewRef(place);
    if (slot >= slots) {
      Py_CLEAR(place);
    }
  }
  return StepResult::kNext;
}

bool Interpreter::leave_generator(const Step& step) {
  const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(step.snapshot)];
  const bool ends = step.op != Op::leave_generator;
  if (ends) {
    materialise(state, true, true);  // what dies now may look at the frames
  }
  if (!ends && !box_all(state)) {
    return false;
  }
  --run_.depth;
  cpython::leave_recursion(run_.thread);
  cpython::Frame* frame = run_.frames[run_.depth];
  if (ends) {
    if (cpython::has_locals_dict(frame)) {
      give_up_locals(step, state);
    }
    cpython::end_generator(run_.thread, frame);
    return true;
  }
  cpython::set_location(frame, unit_of(state));
  write_locals(frame, state);
  const auto depth = static_cast<int>(state.stack.size()) - 1;  // without what is yielded
  PyObject** base = cpython::stack_base(frame);
  for (int place = 0; place < depth; ++place) {
    base[place] = Py_XNewRef(registers_[state.stack[static_cast<std::size_t>(place)]]);
  }
  cpython::suspend_generator(run_.thread, frame, depth);
  return true;
}

}  // namespace tagalong::replay
