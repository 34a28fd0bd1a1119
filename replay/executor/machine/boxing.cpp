#include "replay/executor/machine/boxing.h"

#include "replay/executor/emergency.h"
#include "rewriter/cpython/objects/exact_numbers.h"

namespace tagalong::replay {

namespace {

PyObject* make_pair(const RunState& state, std::int32_t place) {
  const Ref row = Ref::steal(PyLong_FromLongLong(state.unboxed[place].i));
  const Ref column = Ref::steal(PyLong_FromLongLong(state.unboxed[place + 1].i));
  return row && column ? PyTuple_Pack(2, row.get(), column.get()) : nullptr;
}

bool take_from_reserve(RunState& state, std::int32_t place, bool leaves) {
  const Unboxed kind = state.kind_of(place);
  state.registers[place] = kind == Unboxed::kPair
                               ? pair_from_reserve(state.unboxed[place], state.unboxed[place + 1], leaves)
                               : number_from_reserve(kind, state.unboxed[place], leaves);
  return state.registers[place] != nullptr;
}

}  // namespace

PyObject* box(RunState& state, std::int32_t place) {
  if (state.registers[place] == nullptr) {
    const Unboxed kind = state.kind_of(place);
    state.registers[place] = kind == Unboxed::kPair ? make_pair(state, place) : object_of(kind, state.unboxed[place]);
  }
  return state.registers[place];
}

void box_for_frame(RunState& state, std::int32_t place) {
  const bool is_raising = state.registers[place] == nullptr && PyErr_Occurred() != nullptr;
  if (box(state, place) != nullptr) {
    return;
  }
  if (!is_raising) {
    PyErr_Clear();
  }
  if (!take_from_reserve(state, place, true)) {
    state.registers[place] = Py_NewRef(Py_None);
    state.lacks_numbers = true;
  }
}

bool box_for_step(RunState& state, const Step& step, std::int32_t place) {
  if (box(state, place) != nullptr) {
    return true;
  }
  if (step.snapshot != kNoSnapshot || !take_from_reserve(state, place, false)) {
    return false;
  }
  PyErr_Clear();
  return true;
}

bool box_all(RunState& state, const LoweredSnapshot& snapshot, bool leaves) {
  if (state.unboxed != nullptr) {
    const auto number = static_cast<std::size_t>(&snapshot - state.program.snapshots.data());
    for (const std::int32_t place : state.program.loop.unboxed[number]) {
      if (leaves) {
        box_for_frame(state, place);
      } else if (box(state, place) == nullptr) {
        return false;
      }
    }
  }
  return true;
}

StepResult store_int(RunState& state, const Step& step, std::int64_t number) {
  const bool is_raising = PyErr_Occurred() != nullptr;
  PyObject* object = PyLong_FromLongLong(number);
  if (object == nullptr) [[unlikely]] {
    object = number_from_reserve(Unboxed::kInt, {.i = number}, false);
    if (object != nullptr && !is_raising) {
      PyErr_Clear();
    }
  }
  return store(state, step, object);
}

StepResult store_cell(RunState& state, const Step& step, PyObject* content) {
  PyObject* cell = PyCell_New(content);
  if (cell == nullptr) [[unlikely]] {
    cell = cell_from_reserve(content);
    if (cell != nullptr) {
      PyErr_Clear();
    }
  }
  return store(state, step, cell);
}

}  // namespace tagalong::replay
