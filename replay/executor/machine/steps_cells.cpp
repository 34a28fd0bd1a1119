// Cells, functions and the parts of functions, methods and classes.
#include <array>

#include "replay/executor/machine/boxing.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/binding.h"
#include "replay/objects/eliding_calls.h"
#include "replay/objects/operations.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

StepResult execute_cell_or_function(RunState& state, const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  switch (static_cast<CellStep>(step.op)) {
    case CellStep::make_cell:
      return store_cell(state, step, operand(0));
    case CellStep::cell_get: {
      PyObject* content = PyCell_GET(operand(0));
      return content == nullptr ? raise_for_empty_cell(step) : store(state, step, Py_NewRef(content));
    }
    case CellStep::cell_set: {
      PyObject* old = PyCell_GET(operand(0));
      if (old != nullptr && Py_REFCNT(old) == 1 && !sync_frames(state, step)) {
        return StepResult::kRaised;
      }
      PyCell_SET(operand(0), Py_NewRef(operand(1)));
      Py_XDECREF(old);
      return StepResult::kNext;
    }
    case CellStep::cell_delete: {
      PyObject* old = PyCell_GET(operand(0));
      if (old == nullptr) {
        return raise_for_empty_cell(step);
      }
      if (!sync_frames(state, step)) {
        return StepResult::kRaised;
      }
      PyCell_SET(operand(0), nullptr);
      Py_DECREF(old);
      return StepResult::kNext;
    }
    case CellStep::closure_cell:
      return store(state, step, Py_NewRef(PyTuple_GET_ITEM(PyFunction_GET_CLOSURE(operand(0)), step.immediate)));
    case CellStep::make_function: {
      std::array<PyObject*, 6> values{};
      for (int index = 0; index < step.operand_count; ++index) {
        values.at(static_cast<std::size_t>(index)) = operand(index);
      }
      return store(state, step, replay::make_function(step.immediate, values.data()));
    }
    case CellStep::set_function_attribute:
      replay::set_function_attribute(step.immediate, operand(0), operand(1));
      return StepResult::kNext;
    case CellStep::function_default: {
      PyObject* defaults = PyFunction_GET_DEFAULTS(operand(0));
      const auto size = static_cast<std::size_t>(defaults == nullptr ? 0 : PyTuple_GET_SIZE(defaults));
      // Counted from the end: default -1 belongs to the last positional parameter.
      const auto back = static_cast<std::size_t>(-step.immediate);
      return back > size ? StepResult::kReexecute
                         : store(state, step, Py_NewRef(PyTuple_GET_ITEM(defaults, size - back)));
    }
    case CellStep::function_kwdefault: {
      PyObject* defaults = PyFunction_GET_KW_DEFAULTS(operand(0));
      PyObject* value = defaults == nullptr ? nullptr : cpython::find_without_side_effects(defaults, step.object);
      if (value == nullptr) {
        return StepResult::kReexecute;
      }
      return store(state, step, Py_NewRef(value));
    }
    case CellStep::method_function:
      return store(state, step, Py_NewRef(PyMethod_GET_FUNCTION(operand(0))));
    case CellStep::method_self:
      return store(state, step, Py_NewRef(PyMethod_GET_SELF(operand(0))));
    case CellStep::bind_method:
      return store(state, step, PyMethod_New(operand(0), operand(1)));
    case CellStep::dict_item:
      return store(state, step, Py_XNewRef(PyDict_GetItemWithError(operand(0), step.object)));
    case CellStep::class_attribute:
      return store(state, step, Py_XNewRef(_PyType_Lookup(Py_TYPE(operand(0)), step.object)));
    case CellStep::tuple_item:
      return store(state, step, Py_NewRef(PyTuple_GET_ITEM(operand(0), step.immediate)));
    case CellStep::new_instance: {
      const Ref none = Ref::steal(PyTuple_New(0));
      return store(
          state, step,
          none ? PyBaseObject_Type.tp_new(reinterpret_cast<PyTypeObject*>(operand(0)), none.get(), nullptr) : nullptr);
    }
    case CellStep::call_ex: {
      if (!sync_frames(state, step)) {
        return StepResult::kRaised;
      }
      PyObject* keywords = step.operand_count > 2 ? operand(2) : nullptr;
      if (PyTuple_CheckExact(operand(1)) && (keywords == nullptr || PyDict_CheckExact(keywords)) &&
          !may_elide_unpacked(operand(0), operand(1))) {
        return store(state, step, PyObject_Call(operand(0), operand(1), keywords));
      }
      return execute_by_thunk(state, step, ThunkStep::call_ex, operands);
    }
  }
  return StepResult::kReexecute;  // not reached
}

}  // namespace tagalong::replay
