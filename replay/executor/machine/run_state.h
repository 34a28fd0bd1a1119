// The state of a run in one executor, on which the functions of this folder work: the registers, and beside them the
// unboxed numbers of a loop. Lives on the stack of Executor::run.
#pragma once

#include <cstdint>

#include "replay/executor/executor.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {

// How one step has ended.
enum class StepResult : std::uint8_t {
  kNext,         // continue with the next step
  kRaised,       // the exception is set
  kGuardFailed,  // the guard does not hold
  kReexecute,    // a rare case, without any effect so far: a side exit; the original instruction is executed instead
  kReturned,     // the root frame returns
  kSideExit,     // the run leaves here, whatever the values are
  kEnterLoop,    // the rest of the trace is the loop program
  kFused,        // RunState::fused_steps steps (of a loop: operations), this one included, were run as a fusion group
};

struct RunState {
  RunState(const Executor& of, Run& current, PyObject** objects)
      : executor(of), program(of.program()), run(current), registers(objects), requested(current.thread) {}

  [[nodiscard]] const LoweredSnapshot& snapshot(SnapshotId id) const { return program.snapshot(id); }
  // How a register holds its number while a loop runs; kNone: it always holds an object.
  [[nodiscard]] Unboxed kind_of(std::int32_t place) const {
    return program.loop.kinds[static_cast<std::size_t>(place)];
  }
  // Whether the names of the root frame are the globals of its function.
  [[nodiscard]] bool has_plain_names(PyObject* function) const {
    return run.names != nullptr && run.names == PyFunction_GET_GLOBALS(function) && PyDict_CheckExact(run.names);
  }
  // The step that leaves in place of a guard inside an inlined call, if nothing has happened since that cannot be
  // repeated (guard_relocation.h); or null.
  [[nodiscard]] const Step* relocation_of(const Step& guard) const {
    if (guard.relocation < 0 || run.depth != 1) {
      return nullptr;
    }
    const Step& relocation = program.steps[static_cast<std::size_t>(guard.relocation)];
    return relocation.since >= 0 && user_code_step >= relocation.since && user_code_step <= relocation.guard
               ? nullptr
               : &relocation;
  }

  const Executor& executor;
  const StepProgram& program;
  Run& run;
  PyObject** registers;
  UnboxedNumber* unboxed = nullptr;  // numbers beside the registers, while a loop runs
  const LoopOp* loop_op = nullptr;   // in a loop: the operation of the step that is being executed
  std::uint32_t fused_steps = 0;     // StepResult::kFused
  bool lacks_numbers = false;        // a frame shows None in place of a number: there was no memory
  std::int32_t user_code_step = -1;  // the last step whose attribute read may have run user code
  const cpython::RequestFlag requested;
};

inline void clear_registers(RunState& state) {
  for (std::int32_t place = state.program.constant_count; place < state.program.register_count; ++place) {
    Py_CLEAR(state.registers[place]);
  }
}

inline StepResult store(RunState& state, const Step& step, PyObject* result) {
  if (result == nullptr) {
    return StepResult::kRaised;
  }
  state.registers[step.result] = result;
  return StepResult::kNext;
}

// Of a function of the C API that gives -1 with an exception set.
inline StepResult from_status(int status) { return status < 0 ? StepResult::kRaised : StepResult::kNext; }

}  // namespace tagalong::replay
