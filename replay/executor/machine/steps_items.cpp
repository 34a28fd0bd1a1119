// Items of sequences and arrays by number, and the loop node.
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/sequence_items.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/objects/exact_numbers.h"

namespace tagalong::replay {

// A loop to which the trace does not jump back: each result is one more reference.
StepResult execute_loop_node(RunState& state, const Step& step, const std::int32_t* operands) {
  if (step.is_header) {
    return StepResult::kEnterLoop;
  }
  for (std::uint16_t index = 0; index < step.operand_count; ++index) {
    state.registers[operands[step.operand_count + index]] = Py_NewRef(state.registers[operands[index]]);
  }
  return StepResult::kNext;
}

StepResult execute_item(RunState& state, const Step& step, PyObject* container, PyObject* key, PyObject* value) {
  const bool is_exact = (PyList_CheckExact(container) || (value == nullptr && PyTuple_CheckExact(container))) &&
                        is_int(unboxed_of(Py_TYPE(key)));
  if (!is_exact) {
    return StepResult::kReexecute;
  }
  if (value == nullptr) {
    PyObject* item = PyObject_GetItem(container, key);
    if (item == nullptr) {
      PyErr_Clear();
      return StepResult::kReexecute;
    }
    return store(state, step, item);
  }
  if (step.op == Op::list_renew) {
    std::int64_t index = 0;
    const Py_ssize_t place = cpython::int64_of(key, &index) ? place_in(container, index) : -1;
    if (place < 0 || !cpython::is_exact_number(items_of(container)[place])) {
      return StepResult::kReexecute;
    }
  }
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  return from_status(PyObject_SetItem(container, key, value));
}

// Reads or stores an item of an array, as a loop program does, but with objects.
StepResult execute_array_item(RunState& state, const Step& step, PyObject* array, PyObject* key, PyObject* value) {
  const Unboxed kind = unboxed_of_items(step.immediate);
  const bool is_pair = PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) == 2;
  if (type_of(kind) == nullptr || item_type_of(array, is_pair ? 2 : 1) != step.immediate) {
    return StepResult::kReexecute;
  }
  UnboxedNumber row;
  UnboxedNumber column;
  char* place = nullptr;
  if (is_pair) {
    const bool are_ints =
        unbox(PyTuple_GET_ITEM(key, 0), Unboxed::kInt, &row) && unbox(PyTuple_GET_ITEM(key, 1), Unboxed::kInt, &column);
    place = are_ints ? item_place(array, step.immediate, row.i, column.i) : nullptr;
  } else if (const Unboxed index = unboxed_of(Py_TYPE(key)); is_int(index) && unbox(key, index, &row)) {
    place = item_place(array, step.immediate, row.i);
  }
  if (place == nullptr) {
    return StepResult::kReexecute;
  }
  UnboxedNumber number;
  if (value == nullptr) {
    load_item(place, kind, &number);
    return store(state, step, object_of(kind, number));
  }
  const Unboxed given = unboxed_of(Py_TYPE(value));
  if (!may_be_written(array) || given == Unboxed::kNone || !unbox(value, given, &number)) {
    return StepResult::kReexecute;
  }
  if (kind == Unboxed::kNumpyFloat && is_int(given)) {
    number.d = static_cast<double>(number.i);
  }
  store_item(place, kind, number);
  return StepResult::kNext;
}

// There is no next item: if this is the end, the iterator drops the array now. The result's register stays as it is: it
// may be that of the loop variable, which keeps its last value.
StepResult end_array(RunState& state, const Step& step, PyObject* iterator) {
  if (iterated_type_of(iterator) != step.immediate) {
    return StepResult::kReexecute;
  }
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  const Ref item = Ref::steal(Py_TYPE(iterator)->tp_iternext(iterator));
  TAGALONG_CHECK(!item, "an array that has ended has one more item in {}", state.program.graph.name);
  return PyErr_Occurred() != nullptr ? StepResult::kRaised : StepResult::kNext;
}

StepResult execute_array_next(RunState& state, const Step& step, PyObject* iterator) {
  const char* place = next_item_place(iterator, step.immediate);
  if (place == nullptr) {
    state.registers[step.result] = nullptr;
    return end_array(state, step, iterator);
  }
  const Unboxed kind = unboxed_of_items(step.immediate);
  UnboxedNumber number;
  load_item(place, kind, &number);
  return store(state, step, object_of(kind, number));
}

}  // namespace tagalong::replay
