// Making, reading and changing containers.
#include <boost/container/small_vector.hpp>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/fusion_runs.h"
#include "replay/executor/machine/quiet_steps.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/operations.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

namespace {

using Items = boost::container::small_vector<PyObject*, 8>;

PyObject* build_tuple(const Items& items) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(items.size()));
  for (std::size_t index = 0; tuple != nullptr && index < items.size(); ++index) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(index), Py_NewRef(items[index]));
  }
  return tuple;
}

PyObject* build_list(const Items& items) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(items.size()));
  for (std::size_t index = 0; list != nullptr && index < items.size(); ++index) {
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(index), Py_NewRef(items[index]));
  }
  return list;
}

PyObject* build_set(const Items& items) {
  Ref set = Ref::steal(PySet_New(nullptr));
  for (PyObject* item : items) {
    if (!set || PySet_Add(set.get(), item) != 0) {
      return nullptr;
    }
  }
  return set.release();
}

PyObject* build_map(const Items& items) {
  Ref map = Ref::steal(PyDict_New());
  for (std::size_t index = 0; index + 1 < items.size(); index += 2) {
    if (!map || PyDict_SetItem(map.get(), items[index], items[index + 1]) != 0) {
      return nullptr;
    }
  }
  return map.release();
}

PyObject* build_string(const Items& items) {
  const Ref empty = Ref::steal(PyUnicode_New(0, 0));
  return empty ? _PyUnicode_JoinArray(empty.get(), items.data(), static_cast<Py_ssize_t>(items.size())) : nullptr;
}

StepResult execute_unpack(RunState& state, const Step& step, const std::int32_t* operands) {
  PyObject* value = state.registers[operands[0]];
  const std::int32_t* results = operands + step.operand_count;
  const bool is_tuple = PyTuple_CheckExact(value);
  if (step.op == Op::unpack_sequence && (is_tuple || PyList_CheckExact(value)) && Py_SIZE(value) == step.result_count) {
    PyObject** items = is_tuple ? &PyTuple_GET_ITEM(value, 0) : reinterpret_cast<PyListObject*>(value)->ob_item;
    for (int index = 0; index < step.result_count; ++index) {
      state.registers[results[index]] = Py_NewRef(items[index]);
    }
    return StepResult::kNext;
  }
  return execute_by_thunk(state, step, operands);
}

}  // namespace

StepResult execute_container(RunState& state, const Step& step, const std::int32_t* operands) {
  if (try_fusion_group(state, step)) {
    return StepResult::kFused;
  }
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  switch (step.op) {
    case Op::unpack_sequence:
    case Op::unpack_ex:
      return execute_unpack(state, step, operands);
    case Op::match_mapping:
    case Op::match_sequence: {
      const unsigned long flag = step.op == Op::match_mapping ? Py_TPFLAGS_MAPPING : Py_TPFLAGS_SEQUENCE;
      return store(state, step, Py_NewRef(PyType_HasFeature(Py_TYPE(operand(0)), flag) != 0 ? Py_True : Py_False));
    }
    case Op::delete_global:
      if (cpython::asks_keys(PyFunction_GET_GLOBALS(operand(0)), step.object)) {
        return StepResult::kReexecute;
      }
      break;
    case Op::list_append:
      return from_status(PyList_Append(operand(0), operand(1)));
    case Op::list_to_tuple:
      return store(state, step, PyList_AsTuple(operand(0)));
    case Op::binary_subscr:
      if ((PyList_CheckExact(operand(0)) || PyTuple_CheckExact(operand(0)) || has_plain_items(operand(0))) &&
          PyLong_CheckExact(operand(1))) {
        return store(state, step, PyObject_GetItem(operand(0), operand(1)));  // runs no user code
      }
      break;
    case Op::get_iter:
      if (PyRange_Check(operand(0))) {  // the garbage collector does not track its iterator: it does not run here
        return store(state, step, PyObject_GetIter(operand(0)));
      }
      break;
    default:
      break;
  }
  if (!is_quiet_container(state, step, operands) && !sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  // Two frequent steps, without the copy of the operands below.
  if (step.op == Op::binary_subscr) {
    return store(state, step, PyObject_GetItem(operand(0), operand(1)));
  }
  if (step.op == Op::build_slice) {
    const std::array<PyObject*, 3> bounds = {operand(0), operand(1), step.operand_count > 2 ? operand(2) : nullptr};
    return store(state, step, build_slice(bounds.data(), step.operand_count));
  }
  Items items;
  for (int index = 0; index < step.operand_count; ++index) {
    items.push_back(operand(index));
  }
  switch (step.op) {
    case Op::build_tuple:
      return store(state, step, build_tuple(items));
    case Op::build_list:
      return store(state, step, build_list(items));
    case Op::build_set:
      return store(state, step, build_set(items));
    case Op::build_map:
      return store(state, step, build_map(items));
    case Op::build_string:
      return store(state, step, build_string(items));
    case Op::store_subscr:
      return from_status(PyObject_SetItem(items[0], items[1], items[2]));
    case Op::delete_subscr:
      return from_status(PyObject_DelItem(items[0], items[1]));
    case Op::set_add:
      return from_status(PySet_Add(items[0], items[1]));
    case Op::map_add:
      return from_status(PyDict_SetItem(items[0], items[1], items[2]));
    case Op::get_iter:
      return store(state, step, PyObject_GetIter(items[0]));
    case Op::get_len: {
      const Py_ssize_t length = PyObject_Length(items[0]);
      return length < 0 ? StepResult::kRaised : store(state, step, PyLong_FromSsize_t(length));
    }
    case Op::format_value:
      return store(state, step, replay::format_value(step.immediate, items[0], items.size() > 1 ? items[1] : nullptr));
    default:
      return execute_by_thunk(state, step, operands);
  }
}

}  // namespace tagalong::replay
