// Steps of consumers (consumers.h) that no instruction has, and how a consumer goes on where a run leaves.
#include <algorithm>

#include "replay/executor/interpreter.h"

namespace tagalong::replay {

Interpreter::StepResult Interpreter::execute_consumer(const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return registers_[operands[index]]; };
  if (step.op == Op::begin_extend || step.op == Op::end_extend) {
    const bool is_done = step.op == Op::begin_extend ? begin_extend(operand(0)) : end_extend(operand(0));
    return is_done ? StepResult::kNext : StepResult::kRaised;
  }
  if (!sync(step)) {
    return StepResult::kRaised;
  }
  const bool has_keys = step.op == Op::better_by_key;
  const int better =
      has_keys ? is_better(step.immediate, operand(3), operand(1)) : is_better(step.immediate, operand(1), operand(0));
  if (better < 0) {
    return StepResult::kRaised;
  }
  const std::int32_t* results = operands + step.operand_count;
  const int first = better > 0 ? step.result_count : 0;
  for (int index = 0; index < step.result_count; ++index) {
    registers_[results[index]] = Py_NewRef(operand(first + index));
  }
  return StepResult::kNext;
}

// What the state keeps alive while frames above it run.
void Interpreter::keep_consumed(const LoweredSnapshot& state, std::vector<Ref>* kept) const {
  for (std::size_t place = state.depth(); place < state.stack.size(); ++place) {
    kept->push_back(Ref::create(registers_[state.stack[place]]));
  }
}

// A consumer has raised: its operands below `top` die with its instruction, from the first; unwinding would begin with
// the last.
void Interpreter::give_up_consumed(const LoweredSnapshot& state, PyObject** top) {
  for (PyObject** operand = top - state.consuming.pops; operand != top; ++operand) {
    Py_CLEAR(*operand);
  }
}

// The consumer of a snapshot does the rest, with what the frame above has given, if there is one, and its results take
// the place of its operands. As take_result().
int Interpreter::take_consumed(const Consuming& consuming, Kept& kept, const Given& given, int instruction,
                               PyObject** stack, int& depth) {
  const replay::Given what = given.frame == nullptr    ? replay::Given::kNothing
                             : given.has_ended         ? replay::Given::kEnd
                             : given.result == nullptr ? replay::Given::kError
                                                       : replay::Given::kItem;
  Ref result = Ref::steal(consume_rest(consuming, kept.consumed, what, Ref::steal(given.result)));
  while (!kept.consumed.empty()) {
    kept.consumed.pop_back();  // from the top, as C code drops what it has unpacked
  }
  for (int place = depth - consuming.pops; place < depth; ++place) {
    Py_XDECREF(stack[place]);  // one may be the NULL of the calling convention
  }
  depth -= consuming.pops;
  if (!result) {
    return -1;
  }
  if (consuming.consumer == Consumer::kUnpack) {
    for (Py_ssize_t index = PyTuple_GET_SIZE(result.get()); index > 0; --index) {
      stack[depth++] = Py_NewRef(PyTuple_GET_ITEM(result.get(), index - 1));
    }
  } else if (consuming.results != 0) {
    stack[depth++] = result.release();
  }
  return instruction + 1;
}

}  // namespace tagalong::replay
