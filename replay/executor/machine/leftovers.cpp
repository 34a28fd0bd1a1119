#include "replay/executor/machine/leftovers.h"

#include <algorithm>

#include "replay/executor/finalisers.h"
#include "replay/executor/machine/frames.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::replay {

namespace {

// Registers of objects that no frame holds.
std::vector<std::int32_t> find_leftovers(const RunState& state, const LoweredSnapshot& inner) {
  std::vector<bool> is_held(static_cast<std::size_t>(state.program.register_count), false);
  const auto hold = [&is_held](std::int32_t place) {
    if (place >= 0) {
      is_held[static_cast<std::size_t>(place)] = true;
    }
  };
  for (const SnapshotId id : inner.chain) {
    const LoweredSnapshot& snapshot = state.snapshot(id);
    hold(state.program.frame_functions[static_cast<std::size_t>(snapshot.frame)]);
    hold(state.program.frame_instances[static_cast<std::size_t>(snapshot.frame)]);
    std::ranges::for_each(snapshot.locals, hold);
    std::ranges::for_each(snapshot.stack, hold);
  }
  std::vector<std::int32_t> rest;
  for (std::int32_t place = state.program.constant_count; place < state.program.register_count; ++place) {
    if (!is_held[static_cast<std::size_t>(place)] && state.program.kind_of(place) == Unboxed::kNone) {
      rest.push_back(place);
    }
  }
  return rest;
}

// The snapshot before the instruction that has led to this one in the same frame.
const LoweredSnapshot& snapshot_before(const RunState& state, const Step& step, const LoweredSnapshot& here) {
  for (const Step* each = &step; each != state.program.steps.data();) {
    --each;
    if (each->snapshot != kNoSnapshot) {
      const LoweredSnapshot& snapshot = state.snapshot(each->snapshot);
      if (snapshot.frame == here.frame) {
        return snapshot;
      }
    }
  }
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): the executor owns snapshots
  return here;
}

}  // namespace

void drop_leftovers(RunState& state, const Step& step) {
  const LoweredSnapshot& inner = state.snapshot(step.snapshot);
  if (step.rest == nullptr) {
    step.rest = std::make_unique<std::vector<std::int32_t>>(find_leftovers(state, inner));
  }
  bool is_shown = false;
  for (const std::int32_t place : *step.rest) {
    PyObject* object = state.registers[place];
    if (object == nullptr || cpython::is_used_up(object) || dies_without_user_code(object)) {
      continue;
    }
    if (!is_shown && Py_REFCNT(object) == 1) {
      is_shown = true;
      if (!materialise(state, inner, true)) {
        PyErr_Clear();  // the side exit tries again
        return;
      }
      cpython::set_location(state.run.frames[inner.chain.size() - 1],
                            unit_of(state, snapshot_before(state, step, inner)));
    }
    Py_CLEAR(state.registers[place]);
  }
}

}  // namespace tagalong::replay
