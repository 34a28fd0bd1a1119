// Entering an executor: its registers are set up, and the run goes from executor to executor until it ends.
#include <array>
#include <vector>

#include "replay/executor/emergency.h"
#include "replay/executor/machine/fusion_runs.h"
#include "replay/executor/machine/loop_interpreter.h"
#include "replay/executor/machine/step_machine.h"
#include "replay/executor/machine/trace_link.h"

namespace tagalong::replay {

Outcome Executor::run(Run& run) const {
  const ActiveRun active(run.root);
  run.active = &active;
  const ExecutorHold hold(*this);
  if (!hold.is_complete()) [[unlikely]] {
    run.failed = hold.failed_step();
    return run.root == nullptr ? Outcome::kGuard : Outcome::kMiss;
  }
  if (is_reserve_used()) [[unlikely]] {
    keep_for_emergencies();
  }
  constexpr std::int32_t kOnStack = 256;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only the used part is filled
  std::array<PyObject*, kOnStack> small;
  std::vector<PyObject*> large;
  PyObject** registers = small.data();
  if (program_.register_count > kOnStack) {
    large.resize(static_cast<std::size_t>(program_.register_count));
    registers = large.data();
  }
  std::int32_t place = 0;
  for (; place < program_.constant_count; ++place) {
    registers[place] = program_.constants[static_cast<std::size_t>(place)];
  }
  registers[1] = run.function;
  for (; place < program_.register_count; ++place) {
    registers[place] = nullptr;
  }
  if (run.root != nullptr) {
    run.frames[0] = run.root;
    run.frame_numbers[0] = 0;
    run.synced_keys[0] = -1;
    run.depth = 1;
  }
  run.last = this;
  RunState state(*this, run, registers);
  if (straight_ != nullptr && run.root != nullptr && run_whole_trace(state)) {
    return Outcome::kReturned;
  }
  Outcome outcome = run_steps(state);
  while (outcome == Outcome::kTraceLinked) {
    Visit& visit = *run.visit;
    run.last = visit.executor;
    RunState next(*visit.executor, run, visit.registers.data());
    next.unboxed = visit.unboxed.data();
    outcome = LoopInterpreter(next, next.program.steps[next.program.direct.header]).run();
  }
  return outcome;
}

}  // namespace tagalong::replay
