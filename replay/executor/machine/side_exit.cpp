#include "replay/executor/machine/side_exit.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "replay/executor/emergency.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/resume_frames.h"

namespace tagalong::replay {

namespace {

// An instruction drops its operands before its exception leaves it, in the same order as after a success; unwinding
// would begin with the last.
void drop_operands(RunState& state, const Step& step, const LoweredSnapshot& inner) {
  const std::int32_t* operands = state.program.operands_of(step);
  const std::int32_t* operands_end = operands + step.operand_count;
  for (const std::int32_t place : state.program.drops_of(step)) {
    auto others = -std::count(operands, operands_end, place);
    if (others == 0) {
      continue;  // something below the operands, which dies with the stack
    }
    for (const SnapshotId id : inner.chain) {
      const auto& stack = state.snapshot(id).stack;
      others += std::count(stack.begin(), stack.end(), place);
    }
    if (others <= 0) {
      Py_CLEAR(state.registers[place]);
    }
  }
}

// Real frames that the snapshot does not have: without memory their leave_frame was not executed.
void pop_ended_frames(RunState& state, const LoweredSnapshot& snapshot) {
  const auto is_in = [&](int level) {
    const auto place = static_cast<std::size_t>(level);
    return place < snapshot.chain.size() &&
           state.snapshot(snapshot.chain[place]).frame == state.run.frame_numbers[level];
  };
  int kept = state.run.root != nullptr ? 1 : 0;
  while (kept < state.run.depth && is_in(kept)) {
    ++kept;
  }
  pop_frames(state, kept);
}

// The state of a consumer, which stays alive while the frames above run.
void keep_consumer_values(const RunState& state, const LoweredSnapshot& snapshot, std::vector<Ref>* kept) {
  for (std::size_t place = snapshot.depth(); place < snapshot.stack.size(); ++place) {
    kept->push_back(Ref::create(state.registers[snapshot.stack[place]]));
  }
}

// A consumer has raised: its operands below `top` are dropped with its instruction, from the first; unwinding would
// begin with the last.
void drop_consumer_operands(const LoweredSnapshot& snapshot, PyObject** top) {
  for (PyObject** operand = top - snapshot.consuming.pops; operand != top; ++operand) {
    Py_CLEAR(*operand);
  }
}

// An exception while it is not set.
struct FetchedError {
  Ref type, value, traceback;

  void fetch() {
    PyObject* parts[3] = {};
    PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
    type = Ref::steal(parts[0]);
    value = Ref::steal(parts[1]);
    traceback = Ref::steal(parts[2]);
  }
  void restore() { PyErr_Restore(type.release(), value.release(), traceback.release()); }
};

// The registers give each frame its stack, and what it needs when its callee has ended.
std::vector<ResumedFrame> fill_stacks(RunState& state, const LoweredSnapshot& inner, int first_own, bool raise) {
  const auto nesting = static_cast<int>(inner.chain.size());
  std::vector<ResumedFrame> frames(static_cast<std::size_t>(nesting));
  for (int level = 0; level < nesting; ++level) {
    const LoweredSnapshot& own = state.snapshot(inner.chain[level]);
    ResumedFrame& frame = frames[static_cast<std::size_t>(level)];
    if (level < first_own) {
      for (std::size_t depth = 0; depth < own.depth(); ++depth) {
        state.run.side_exit->stack.push_back(Py_XNewRef(state.registers[own.stack[depth]]));
      }
    } else {
      PyObject** base = cpython::stack_base(state.run.frames[level]);
      for (std::size_t depth = 0; depth < own.depth(); ++depth) {
        base[depth] = Py_XNewRef(state.registers[own.stack[depth]]);
      }
    }
    const std::int32_t instance = state.program.frame_instances[static_cast<std::size_t>(own.frame)];
    if (instance >= 0) {
      frame.instance = Ref::create(state.registers[instance]);
    }
    if (level + 1 < nesting || !raise) {
      keep_consumer_values(state, own, &frame.consumed);
    }
  }
  return frames;
}

}  // namespace

Outcome leave_run(RunState& state, const Step& step, bool raise) {
  FetchedError error;
  if (raise) {
    error.fetch();
  }
  if (is_reserve_used()) [[unlikely]] {
    keep_for_emergencies();
  }
  SnapshotId id = step.snapshot;
  if (!state.run.is_complete) {
    ++step.failures;
  }
  pop_ended_frames(state, state.snapshot(id));
  // Where there is no memory for an inlined frame, its caller raises MemoryError, as if the call had failed.
  while (!materialise(state, state.snapshot(id), true, true)) {
    raise = true;
    error.fetch();
    if (state.run.depth == 0) {
      clear_registers(state);
      error.restore();
      return Outcome::kRaised;
    }
    id = state.snapshot(id).chain[static_cast<std::size_t>(state.run.depth) - 1];
  }
  const LoweredSnapshot& inner = state.snapshot(id);
  if (state.lacks_numbers && !raise) [[unlikely]] {
    raise = true;
    PyErr_NoMemory();
    error.fetch();
  }
  if (raise && step.can_leave && id == step.snapshot) {
    drop_operands(state, step, inner);
  }
  if (state.run.root != nullptr) {
    state.run.side_exit = std::make_unique<SideExit>();
  }
  const int first_own = state.run.root != nullptr ? 1 : 0;  // the root frame of an entry stub is run by the interpreter
  std::vector<ResumedFrame> frames = fill_stacks(state, inner, first_own, raise);
  clear_registers(state);
  if (raise) {
    const auto nesting = static_cast<int>(inner.chain.size());
    PyObject** stack =
        nesting > first_own ? cpython::stack_base(state.run.frames[nesting - 1]) : state.run.side_exit->stack.data();
    drop_consumer_operands(inner, stack + inner.depth());
    error.restore();
  }
  return resume_frames(state, inner, std::move(frames), first_own, raise);
}

}  // namespace tagalong::replay
