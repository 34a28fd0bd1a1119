// Generators that are resumed inside a graph: their own frames are linked and suspended as the interpreter does it,
// only what they do in between are steps.
#include "replay/interpreter.h"
#include "rewriter/interp/generators.h"

namespace tagalong::replay {

bool Interpreter::generator_matches(PyObject* value, const Step& step) {
  constexpr int kSpareRecursion = 40;
  interp::Frame* frame = interp::suspended_frame(value);
  if (frame == nullptr || interp::unit_of(frame) != step.immediate ||
      PyWeakref_GET_OBJECT(PyTuple_GET_ITEM(step.object, 0)) != reinterpret_cast<PyObject*>(interp::code_of(frame)) ||
      interp::recursion_left(interp::thread_state()) < kSpareRecursion) {
    return false;
  }
  PyObject* bound = PyTuple_GET_ITEM(step.object, 1);
  for (Py_ssize_t slot = 0; slot < PyBytes_GET_SIZE(bound); ++slot) {
    if ((interp::locals_of(frame)[slot] != nullptr) != (PyBytes_AS_STRING(bound)[slot] != 0)) {
      return false;
    }
  }
  return true;
}

Interpreter::Answer Interpreter::execute_inlined_generator(const Step& step, const std::int32_t* operands) {
  if (step.op != Op::enter_generator) {
    leave_generator(step, step.op == Op::finish_generator);
    return Answer::kNext;
  }
  if (!sync(step)) {
    return Answer::kRaised;
  }
  interp::Frame* frame = interp::suspended_frame(registers_[operands[0]]);
  interp::enter_generator(run_.thread, frame);
  interp::enter_recursion(run_.thread);
  run_.frames[run_.depth] = frame;
  run_.frame_numbers[run_.depth] = static_cast<std::int32_t>(PyLong_AsLong(step.object));
  ++run_.depth;
  run_.synced_key = -1;
  // The frame keeps its locals, too, as those that are made real do; what lies on its stack is the graph's.
  const std::int32_t* results = operands + step.operand_count;
  registers_[results[0]] = Py_NewRef(reinterpret_cast<PyObject*>(interp::function_of(frame)));
  const int slots = interp::slot_count(interp::code_of(frame));
  for (int slot = 0; slot + 1 < step.result_count; ++slot) {
    PyObject*& place = interp::locals_of(frame)[slot];
    registers_[results[slot + 1]] = Py_XNewRef(place);
    if (slot >= slots) {
      Py_CLEAR(place);
    }
  }
  return Answer::kNext;
}

void Interpreter::leave_generator(const Step& step, bool finishes) {
  const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(step.snapshot)];
  materialise(state, true);
  interp::Frame* frame = run_.frames[run_.depth - 1];
  const auto depth = static_cast<int>(state.stack.size()) - 1;  // without what is yielded or returned
  PyObject** base = interp::stack_base(frame);
  for (int place = 0; place < depth; ++place) {
    base[place] = Py_XNewRef(registers_[state.stack[static_cast<std::size_t>(place)]]);
  }
  --run_.depth;
  run_.synced_key = -1;
  interp::leave_recursion(run_.thread);
  if (!finishes) {
    interp::suspend_generator(run_.thread, frame, depth);
    return;
  }
  // The interpreter returns from it: with a None in the place of the value, which no `for` looks at.
  const CodeShape& shape = *executor_.shapes_[static_cast<std::size_t>(state.frame)];
  base[depth] = Py_NewRef(Py_None);
  PyObject* item = interp::continue_generator(
      run_.thread, frame, shape.starts[static_cast<std::size_t>(state.instruction)], depth + 1, false);
  TAGALONG_CHECK(item == nullptr && PyErr_Occurred() == nullptr, "a generator of {} did not return",
                 executor_.graph_.name);
}

}  // namespace tagalong::replay
