#include "replay/executor/machine/run_end.h"

#include <algorithm>

#include "replay/executor/machine/boxing.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/leftovers.h"
#include "replay/executor/machine/side_exit.h"
#include "replay/executor/machine/trace_link.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/exceptions.h"

namespace tagalong::replay {

namespace {

auto find_return(const RunState& state, const Step& step) {
  return std::ranges::find(state.program.returns, state.program.index_of(step), &StepProgram::Return::step);
}

// After the return only some registers can still hold objects.
void clear_returned(RunState& state, const Step& step) {
  const auto known = find_return(state, step);
  if (known == state.program.returns.end() || !known->held) {
    clear_registers(state);
    return;
  }
  for (const std::int32_t place : *known->held) {
    Py_CLEAR(state.registers[place]);
  }
#ifdef TAGALONG_CHECKS
  for (std::int32_t place = state.program.constant_count; place < state.program.register_count; ++place) {
    TAGALONG_CHECK(state.registers[place] == nullptr, "register {} of {} holds an object after the return", place,
                   state.program.graph.name);
  }
#endif
}

// The root frame returns: its locals die in the order of their slots, with the real frame if there is one. A number
// that no code has seen needs no object for that: its slot may keep an older number.
void return_locals(RunState& state, const Step& step) {
  const auto known = find_return(state, step);
  if (state.run.depth == 0 || known == state.program.returns.end()) {
    return;
  }
  const bool is_visible = state.run.frames[0]->frame_obj != nullptr;
  if (is_visible) {
    box_all(state, state.snapshot(step.snapshot), true);
  }
  PyObject** slots = cpython::locals_of(state.run.frames[0]);
  for (const auto& [slot, place] : known->locals) {
    PyObject* value = place < 0 ? nullptr : state.registers[place];
    if (value == nullptr && place >= 0 && state.unboxed != nullptr && state.kind_of(place) != Unboxed::kNone) {
      continue;
    }
    PyObject* old = slots[slot];
    if (old != value) {
      slots[slot] = Py_XNewRef(value);
      Py_XDECREF(old);
    }
  }
}

bool try_link(RunState& state, const Step& step) {
  try {
    drop_leftovers(state, step);
    return link_trace(state, step);
  } catch (const std::bad_alloc&) {
    return false;  // nothing has been moved
  }
}

// A step without a snapshot has failed because there is no memory: the next step with a snapshot raises instead, and
// the steps between are not executed.
const Step& next_with_snapshot(const RunState& state, const Step& step) {
  const Step* const end = state.program.steps.data() + state.program.steps.size();
  const Step* found = std::find_if(&step, end, [](const Step& each) { return each.snapshot != kNoSnapshot; });
  TAGALONG_CHECK(found != end, "no snapshot behind step {} of {}", state.program.index_of(step),
                 state.program.graph.name);
  return *found;
}

Outcome end_by_return(RunState& state, const Step& step) {
  return_locals(state, step);
  if (state.lacks_numbers) [[unlikely]] {
    PyErr_NoMemory();
    return end_run(state, step, StepResult::kRaised);
  }
  state.run.returned = &step;
  const std::int32_t place = *state.program.operands_of(step);
  PyObject* result = state.registers[place];
  if (place < state.program.constant_count) {
    Py_INCREF(result);
  } else {
    state.registers[place] = nullptr;
  }
  state.run.result = Ref::steal(result);
  clear_returned(state, step);
  pop_frames(state, state.run.root != nullptr ? 1 : 0);
  ++state.executor.hits;
  return Outcome::kReturned;
}

Outcome end_by_miss(RunState& state, const Step& guard) {
  ++guard.failures;
  state.run.failed = &guard;
  if (guard.operand_count != 0) {
    state.run.failed_value = Ref::create(state.registers[*state.program.operands_of(guard)]);
  }
  if (state.run.handles) {
    cpython::set_handled(state.run.thread, std::move(state.run.handled_at_entry));
  }
  pop_frames(state, state.run.root != nullptr ? 1 : 0);  // first: the registers keep the generators of such frames
  clear_registers(state);
  return state.run.root == nullptr ? Outcome::kGuard : Outcome::kMiss;
}

}  // namespace

Outcome end_run(RunState& state, const Step& step, StepResult result) {
  const bool raises = result == StepResult::kRaised;
  if (raises && step.snapshot == kNoSnapshot) [[unlikely]] {
    return end_run(state, next_with_snapshot(state, step), result);
  }
  if (result == StepResult::kReturned) {
    return end_by_return(state, step);
  }
  if (result == StepResult::kGuardFailed) {
    if (step.in_entry_check || (state.run.root == nullptr && !step.in_loop)) {
      return end_by_miss(state, step);
    }
    if (const Step* relocation = state.relocation_of(step)) {
      return end_run(state, *relocation, result);
    }
    state.run.failed = &step;
  }
  state.run.gain -= step.exit_loss;
  if (!raises && step.snapshot != kNoSnapshot && try_link(state, step)) {
    return Outcome::kTraceLinked;
  }
  if (const Attached* place = state.executor.place_of(step)) {
    state.run.place = place;
  }
  state.run.is_complete = state.run.is_stopped || step.op == Op::raise_out || step.op == Op::reraise_out ||
                          step.op == Op::yield_value || step.op == Op::link;
  if (!state.run.is_stopped) {
    ++(state.run.is_complete ? state.executor.hits : state.executor.exits);
  }
  const bool is_entry_state = !raises && step.snapshot != kNoSnapshot && state.snapshot(step.snapshot).is_entry_state;
  state.run.without_progress = is_entry_state ? state.executor.trace(step) : 0;
  return leave_run(state, step, raises);
}

}  // namespace tagalong::replay
