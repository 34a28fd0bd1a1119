// Making, reading and changing containers.
#include <boost/container/small_vector.hpp>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/fusion_runs.h"
#include "replay/executor/machine/step_families.h"
#include "replay/executor/machine/steps_without_user_code.h"
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
  return execute_by_thunk(state, step, static_cast<ThunkStep>(step.op), operands);
}

// The frames are shown unless the step runs no user code. False: an exception is set.
bool show_frames(RunState& state, const Step& step, const std::int32_t* operands) {
  return container_runs_no_user_code(state, step, operands) || sync_frames(state, step);
}

Items items_of(const RunState& state, const Step& step, const std::int32_t* operands) {
  Items items;
  for (int index = 0; index < step.operand_count; ++index) {
    items.push_back(state.registers[operands[index]]);
  }
  return items;
}

// Makes a container of all operands.
template <PyObject* (*build)(const Items&)>
StepResult build_of(RunState& state, const Step& step, const std::int32_t* operands) {
  return show_frames(state, step, operands) ? store(state, step, build(items_of(state, step, operands)))
                                            : StepResult::kRaised;
}

}  // namespace

StepResult execute_container(RunState& state, const Step& step, const std::int32_t* operands) {
  if (try_fusion_group(state, step)) {
    return StepResult::kFused;
  }
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  const auto is_ready = [&] { return show_frames(state, step, operands); };
  switch (static_cast<ContainerStep>(step.op)) {
    case ContainerStep::unpack_sequence:
    case ContainerStep::unpack_ex:
      return execute_unpack(state, step, operands);
    case ContainerStep::match_mapping:
    case ContainerStep::match_sequence: {
      const unsigned long flag = step.op == Op::match_mapping ? Py_TPFLAGS_MAPPING : Py_TPFLAGS_SEQUENCE;
      return store(state, step, Py_NewRef(PyType_HasFeature(Py_TYPE(operand(0)), flag) != 0 ? Py_True : Py_False));
    }
    case ContainerStep::delete_global:
      return cpython::asks_keys(PyFunction_GET_GLOBALS(operand(0)), step.object)
                 ? StepResult::kReexecute
                 : execute_by_thunk(state, step, ThunkStep::delete_global, operands);
    case ContainerStep::list_append:
      return from_status(PyList_Append(operand(0), operand(1)));
    case ContainerStep::list_to_tuple:
      return store(state, step, PyList_AsTuple(operand(0)));
    case ContainerStep::binary_subscr: {
      const bool is_plain =
          PyLong_CheckExact(operand(1)) && (PyList_CheckExact(operand(0)) || PyTuple_CheckExact(operand(0)) ||
                                            has_plain_items(operand(0)));  // runs no user code
      return is_plain || is_ready() ? store(state, step, PyObject_GetItem(operand(0), operand(1)))
                                    : StepResult::kRaised;
    }
    case ContainerStep::get_iter: {
      // The garbage collector does not track the iterator of a range, so it does not run here.
      const bool is_plain = PyRange_Check(operand(0));
      return is_plain || is_ready() ? store(state, step, PyObject_GetIter(operand(0))) : StepResult::kRaised;
    }
    case ContainerStep::build_slice: {
      if (!is_ready()) {
        return StepResult::kRaised;
      }
      const std::array<PyObject*, 3> bounds = {operand(0), operand(1), step.operand_count > 2 ? operand(2) : nullptr};
      return store(state, step, build_slice(bounds.data(), step.operand_count));
    }
    case ContainerStep::build_tuple:
      return build_of<build_tuple>(state, step, operands);
    case ContainerStep::build_list:
      return build_of<build_list>(state, step, operands);
    case ContainerStep::build_set:
      return build_of<build_set>(state, step, operands);
    case ContainerStep::build_map:
      return build_of<build_map>(state, step, operands);
    case ContainerStep::build_string:
      return build_of<build_string>(state, step, operands);
    case ContainerStep::store_subscr:
      return is_ready() ? from_status(PyObject_SetItem(operand(0), operand(1), operand(2))) : StepResult::kRaised;
    case ContainerStep::delete_subscr:
      return is_ready() ? from_status(PyObject_DelItem(operand(0), operand(1))) : StepResult::kRaised;
    case ContainerStep::set_add:
      return is_ready() ? from_status(PySet_Add(operand(0), operand(1))) : StepResult::kRaised;
    case ContainerStep::map_add:
      return is_ready() ? from_status(PyDict_SetItem(operand(0), operand(1), operand(2))) : StepResult::kRaised;
    case ContainerStep::get_len: {
      const Py_ssize_t length = is_ready() ? PyObject_Length(operand(0)) : -1;
      return length < 0 ? StepResult::kRaised : store(state, step, PyLong_FromSsize_t(length));
    }
    case ContainerStep::convert_value:
      return is_ready() ? store(state, step, replay::convert_value(step.immediate, operand(0))) : StepResult::kRaised;
    case ContainerStep::format_value: {
      PyObject* format = step.operand_count > 1 ? operand(1) : nullptr;
      return is_ready() ? store(state, step, replay::format_value(step.immediate, operand(0), format))
                        : StepResult::kRaised;
    }
  }
  return StepResult::kReexecute;  // not reached
}

}  // namespace tagalong::replay
