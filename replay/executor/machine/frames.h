// The frames of a run: virtual until code may look at them, then made real ("materialised") with the locations and
// locals that eager execution would show. The root frame of a run that was entered from a frame is real from the start.
#pragma once

#include "replay/executor/machine/run_state.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {

// Makes the frames of the snapshot real. `leaves`: the run ends here, so numbers without memory come from the reserve.
// False with an exception set: there is no memory for a frame, or for a number that one shows.
bool materialise(RunState& state, const LoweredSnapshot& snapshot, bool with_locals, bool leaves = false);

// Before a step that may run user code: the frames show what eager execution shows.
inline bool sync_frames(RunState& state, const Step& step) {
  return step.snapshot == kNoSnapshot || materialise(state, state.snapshot(step.snapshot), true);
}
// Only their locations: before C code that may warn or raise but does not run Python code.
inline bool sync_location(RunState& state, const Step& step) {
  return step.snapshot == kNoSnapshot || materialise(state, state.snapshot(step.snapshot), false);
}
// Eval-breaker poll: signal handlers, pending calls and other threads see the frames.
inline bool poll_requests(RunState& state, const Step& step) {
  return sync_frames(state, step) && cpython::poll_requests();
}
// Before the last reference to an object is dropped: its finaliser, or that of what it holds, may look at the frames.
void sync_for_finaliser(RunState& state, SnapshotId id, PyObject* dying);
// Tools that look from outside, such as samplers, find the root frame near the place where the run is. Code of the
// program is shown more, by sync_frames.
void show_location(RunState& state, SnapshotId id);

// The snapshot of the root frame with which this one begins.
[[nodiscard]] const LoweredSnapshot& outermost(const RunState& state, SnapshotId id);
// The code unit that the snapshot's frame shows as its location.
[[nodiscard]] int unit_of(const RunState& state, const LoweredSnapshot& snapshot);
// The level of the frame with this number among the real frames; -1: it is not real.
[[nodiscard]] int real_level(const RunState& state, std::int32_t frame);

void write_locals(RunState& state, cpython::Frame* frame, const LoweredSnapshot& snapshot);
// One local of a frame, if that is real.
void sync_local(RunState& state, const Step& step);
// The same for an unboxed number, if what the frame holds is no number: its end may be noticed. A real frame may hold
// an older number meanwhile.
void sync_unboxed_local(RunState& state, const Step& step, std::int32_t place);

// An inlined call returns.
void leave_frame(RunState& state, const Step& step);
// The slots of a frame die before its dict: what it holds, and what dies with it, leaves the registers first.
void drop_dead_locals(RunState& state, const Step& step, const LoweredSnapshot& snapshot);
// Empties the stack of a resumed generator's frame, whose values the registers have: none may live longer than in eager
// execution.
void clear_stack(RunState& state, std::int32_t depth);
// Ends real frames without running them, down to this many.
void pop_frames(RunState& state, int keep);
void pop_frame(RunState& state);
// How many levels of recursion the frame and its call count for.
int recursion_levels(const RunState& state, int level);

}  // namespace tagalong::replay
