#include "replay/executor/machine/frames.h"

#include <algorithm>

#include "replay/executor/finalisers.h"
#include "replay/executor/machine/boxing.h"
#include "replay/objects/overloads.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/generators.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/requests.h"
#include "version/calls.h"

namespace tagalong::replay {

namespace {

// The frame of an inlined call. Null with an exception set.
cpython::Frame* push_inlined_frame(const RunState& state, PyFunctionObject* function, const CodeShape& shape) {
  try {
    return cpython::push_frame(state.run.thread, function, cpython::code_to_run(shape.code.get()).get());
  } catch (const PythonError&) {
    return nullptr;
  }
}

}  // namespace

// Calling a class counts towards the recursion limit, and its __init__ once more; comparisons and builtins count, too.
int recursion_levels(const RunState& state, int level) {
  if (!version::kLimitCountsCalls) {
    return 1;
  }
  constexpr int kBuiltinOperands = 3;  // NULL, the builtin, the object
  const FrameInfo& frame = state.program.graph.frames[static_cast<std::size_t>(state.run.frame_numbers[level])];
  switch (frame.return_kind) {
    case ReturnKind::kNone:
      return 2;
    case ReturnKind::kOperator:
      return Operator::of(frame.operation).kind == OperatorKind::kCompare ? 2 : 1;
    case ReturnKind::kChecked:
      return 1 + levels_of(frame.operation, frame.pops == kBuiltinOperands);
    default:
      return 1;
  }
}

bool materialise(RunState& state, const LoweredSnapshot& snapshot, bool with_locals, bool leaves) {
  const auto nesting = static_cast<int>(snapshot.chain.size());
  for (int level = 0; with_locals && state.unboxed != nullptr && level < nesting; ++level) {
    if (!box_all(state, state.snapshot(snapshot.chain[level]), leaves)) {
      return false;
    }
  }
  for (int level = 0; level < nesting; ++level) {
    const LoweredSnapshot& own = state.snapshot(snapshot.chain[level]);
    const auto number = static_cast<std::size_t>(own.frame);
    if (level >= state.run.depth) {
      PyObject* function = state.registers[state.program.frame_functions[number]];
      cpython::Frame* frame =
          push_inlined_frame(state, reinterpret_cast<PyFunctionObject*>(function), *state.program.shapes[number]);
      if (frame == nullptr) {
        return false;
      }
      if (level == 0) {
        cpython::set_names(frame, state.run.names);
      }
      state.run.frames[level] = frame;
      state.run.active->add(frame);
      state.run.frame_numbers[level] = own.frame;
      cpython::enter_recursion(state.run.thread, recursion_levels(state, level));
      state.run.depth = level + 1;
      state.run.synced_keys[level] = -1;
    }
    TAGALONG_CHECK(state.run.frame_numbers[level] == own.frame, "level {} is frame {}, not {}", level,
                   state.run.frame_numbers[level], own.frame);
    cpython::set_location(state.run.frames[level], unit_of(state, own));
  }
  for (int level = 0; with_locals && level < nesting; ++level) {
    const LoweredSnapshot& own = state.snapshot(snapshot.chain[level]);
    if (state.run.synced_keys[level] != own.key) {
      state.run.synced_keys[level] = own.key;
      write_locals(state, state.run.frames[level], own);
    }
  }
  return true;
}

void sync_for_finaliser(RunState& state, SnapshotId id, PyObject* dying) {
  if (dies_without_user_code(dying) || PyErr_Occurred() != nullptr) {
    return;
  }
  if (!materialise(state, state.snapshot(id), true)) {
    PyErr_Clear();  // no memory: the finaliser sees the frames as they were shown last
  }
}

void show_location(RunState& state, SnapshotId id) {
  if (id != kNoSnapshot && state.run.depth > 0) {
    cpython::set_location(state.run.frames[0], unit_of(state, outermost(state, id)));
  }
}

const LoweredSnapshot& outermost(const RunState& state, SnapshotId id) {
  const LoweredSnapshot& inner = state.snapshot(id);
  return state.snapshot(inner.chain[0]);
}

int unit_of(const RunState& state, const LoweredSnapshot& snapshot) {
  const auto instruction = static_cast<std::size_t>(snapshot.instruction);
  if (snapshot.frame == 0 && state.run.root_units != nullptr) {
    return (*state.run.root_units)[instruction];
  }
  return state.program.shapes[static_cast<std::size_t>(snapshot.frame)]->shown[instruction];
}

void write_locals(RunState& state, cpython::Frame* frame, const LoweredSnapshot& snapshot) {
  PyObject** slots = cpython::locals_of(frame);
  for (std::size_t slot = 0; slot < snapshot.locals.size(); ++slot) {
    const std::int32_t place = snapshot.locals[slot];
    PyObject* value = place < 0 ? nullptr : state.registers[place];
    PyObject* old = slots[slot];
    if (old != value && !is_written(frame, slot)) {
      slots[slot] = Py_XNewRef(value);
      Py_XDECREF(old);
    }
  }
}

int real_level(const RunState& state, std::int32_t frame) {
  for (int level = 0; level < state.run.depth; ++level) {
    if (state.run.frame_numbers[level] == frame) {
      return level;
    }
  }
  return -1;
}

void sync_local(RunState& state, const Step& step) {
  const int level = real_level(state, static_cast<std::int32_t>(PyLong_AsLong(step.object)));
  if (level < 0) {
    return;
  }
  PyObject** slots = cpython::locals_of(state.run.frames[level]);
  PyObject* value = state.registers[state.program.registers_used[step.operands]];
  PyObject* old = slots[step.immediate];
  if (old != value && !is_written(state.run.frames[level], static_cast<std::size_t>(step.immediate))) {
    slots[step.immediate] = Py_XNewRef(value);
    state.run.synced_keys[level] = -1;
    Py_XDECREF(old);
  }
}

void sync_unboxed_local(RunState& state, const Step& step, std::int32_t place) {
  const int level = real_level(state, static_cast<std::int32_t>(PyLong_AsLong(step.object)));
  PyObject* old = level < 0 ? nullptr : cpython::locals_of(state.run.frames[level])[step.immediate];
  if (old != nullptr && !cpython::is_exact_number(old)) {
    box_for_frame(state, place);
    sync_local(state, step);
  }
}

void leave_frame(RunState& state, const Step& step) {
  if (state.run.depth > 0 && state.run.frame_numbers[state.run.depth - 1] == step.immediate) {
    cpython::Frame* frame = state.run.frames[state.run.depth - 1];
    if (step.snapshot != kNoSnapshot && (cpython::is_held(frame) || cpython::has_locals_dict(frame))) {
      // Code can look at the frame after its return.
      const LoweredSnapshot& snapshot = state.snapshot(step.snapshot);
      box_all(state, snapshot, true);
      write_locals(state, frame, snapshot);
      cpython::set_location(frame, unit_of(state, snapshot));
    }
    if (step.snapshot != kNoSnapshot && cpython::has_locals_dict(frame)) {
      drop_dead_locals(state, step, state.snapshot(step.snapshot));
    }
    pop_frame(state);
  }
}

void drop_dead_locals(RunState& state, const Step& step, const LoweredSnapshot& snapshot) {
  const std::span<const std::int32_t> drops = state.program.drops_of(step);
  for (const std::int32_t place : snapshot.locals) {
    if (std::ranges::find(drops, place) != drops.end()) {
      Py_CLEAR(state.registers[place]);
    }
  }
}

void clear_stack(RunState& state, std::int32_t depth) {
  PyObject** base = cpython::stack_base(state.run.frames[0]);
  for (std::int32_t place = 0; place < depth; ++place) {
    Py_CLEAR(base[place]);
  }
}

void pop_frames(RunState& state, int keep) {
  while (state.run.depth > keep) {
    pop_frame(state);
  }
}

void pop_frame(RunState& state) {
  --state.run.depth;
  cpython::leave_recursion(state.run.thread, recursion_levels(state, state.run.depth));
  cpython::Frame* frame = state.run.frames[state.run.depth];
  ActiveRun::remove(frame);
  const auto number = static_cast<std::size_t>(state.run.frame_numbers[state.run.depth]);
  if (is_resumption(state.program.graph.frames[number].return_kind)) {
    cpython::end_generator(state.run.thread, frame);
  } else {
    cpython::pop_frame(state.run.thread, frame);
  }
}

}  // namespace tagalong::replay
