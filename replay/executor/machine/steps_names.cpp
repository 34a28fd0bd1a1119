// Globals and attributes by name; and variables of a root frame that live in a mapping, where each instruction is
// executed by the interpreter itself, on that mapping.
#include <opcode.h>

#include <array>
#include <vector>

#include "replay/executor/finalisers.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/operations.h"
#include "replay/steps/looked_up.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/thunks.h"

namespace tagalong::replay {

StepResult execute_name(RunState& state, const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  switch (step.op) {
    case Op::load_global: {
      if (PyObject* known = known_global(step, operand(0))) {
        state.registers[step.result] = Py_NewRef(known);
        return StepResult::kNext;
      }
      if (PyObject* value = look_up_global(step, operand(0))) {
        state.registers[step.result] = Py_NewRef(value);
        return StepResult::kNext;
      }
      return step.expects_raise && look_up_runs_no_user_code(operand(0), step.object)
                 ? execute_by_thunk(state, step, ThunkStep::load_global, operands)
                 : StepResult::kReexecute;
    }
    case Op::store_global:
      if (cpython::asks_keys(PyFunction_GET_GLOBALS(operand(0)), step.object)) {
        return StepResult::kReexecute;
      }
      break;
    case Op::load_module_attr:
    case Op::load_module_method: {
      PyObject* value = look_up_in_module(step, operand(0));
      if (value == nullptr) {
        return StepResult::kReexecute;
      }
      if (step.op == Op::load_module_attr) {
        state.registers[step.result] = Py_NewRef(value);
      } else {
        state.registers[operands[step.operand_count]] = nullptr;
        state.registers[operands[step.operand_count + 1]] = Py_NewRef(value);
      }
      return StepResult::kNext;
    }
    case Op::load_attr:
    case Op::store_attr:
    case Op::load_method:
      if (!step.expects_raise && try_attribute(state, step, operands)) {
        return StepResult::kNext;
      }
      break;
    default:
      break;
  }
  state.user_code_step = static_cast<std::int32_t>(state.program.index_of(step));
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  switch (step.op) {
    case Op::store_global:
      return from_status(
          PyDict_SetItem(reinterpret_cast<PyFunctionObject*>(operand(0))->func_globals, step.object, operand(1)));
    case Op::member:
    case Op::load_attr:
      return store(state, step, PyObject_GetAttr(operand(0), step.object));
    case Op::store_attr:
      return from_status(PyObject_SetAttr(operand(0), step.object, operand(1)));
    case Op::delete_attr:
      return from_status(PyObject_SetAttr(operand(0), step.object, nullptr));
    default: {
      std::array<PyObject*, 2> results{};
      if (!replay::load_method(operand(0), step.object, results.data())) {
        return StepResult::kRaised;
      }
      state.registers[operands[step.operand_count]] = results[0];
      state.registers[operands[step.operand_count + 1]] = results[1];
      return StepResult::kNext;
    }
  }
}

// What the name was bound to dies without user code or not at all, and the dict keeps its size.
bool rebind_global(const Step& step, PyObject* function, PyObject* value) {
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  PyObject* old = PyDict_CheckExact(globals) ? cpython::find_name(globals, step.object, &step.hint) : nullptr;
  if (old == nullptr || (Py_REFCNT(old) == 1 && !dies_without_user_code(old)) ||
      PyDict_SetItem(globals, step.object, value) != 0) {
    PyErr_Clear();
    return false;
  }
  return true;
}

namespace {

// The thunk returns a copy of the value, or another object that is always there.
std::vector<cpython::Instruction> instructions_of(Op op) {
  switch (op) {
    case Op::load_name:
      return {{LOAD_NAME, 0}};
    case Op::store_name:
      return {{COPY, 1}, {STORE_NAME, 0}};
    case Op::delete_name:
      return {{DELETE_NAME, 0}, {LOAD_ASSERTION_ERROR, 0}};
    case Op::import_star:
      return {{COPY, 1}, {IMPORT_STAR, 0}};
    case Op::print_expr:
      return {{COPY, 1}, {PRINT_EXPR, 0}};
    default:
      return {{SETUP_ANNOTATIONS, 0}, {LOAD_ASSERTION_ERROR, 0}};
  }
}

}  // namespace

StepResult execute_namespace_name(RunState& state, const Step& step, const std::int32_t* operands) {
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  if (!step.helper) {
    const Ref names = step.object != nullptr ? Ref::steal(PyTuple_Pack(1, step.object)) : Ref();
    const CodeRef code = cpython::make_namespace_thunk(instructions_of(step.op), names.get());
    if (!code) {
      return StepResult::kRaised;
    }
    step.helper = Ref::create(reinterpret_cast<PyObject*>(code.get()));
  }
  const bool has_value = step.operand_count > 2;
  PyObject* value = has_value ? state.registers[operands[2]] : nullptr;
  Ref result =
      Ref::steal(cpython::run_namespace_thunk(reinterpret_cast<PyCodeObject*>(step.helper.get()),
                                              reinterpret_cast<PyFunctionObject*>(state.registers[operands[0]]),
                                              state.registers[operands[1]], &value, has_value ? 1 : 0));
  if (!result) {
    return StepResult::kRaised;
  }
  if (step.result_count != 0) {
    state.registers[step.result] = result.release();
  }
  return StepResult::kNext;
}

StepResult load_classderef(RunState& state, const Step& step, const std::int32_t* operands) {
  PyObject* names = state.registers[operands[0]];
  PyObject* cell = state.registers[operands[1]];
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  Ref value;
  if (PyDict_CheckExact(names)) {
    value = Ref::create(PyDict_GetItemWithError(names, step.object));
  } else {
    value = Ref::steal(PyObject_GetItem(names, step.object));
    if (!value && PyErr_ExceptionMatches(PyExc_KeyError) != 0) {
      PyErr_Clear();
    }
  }
  if (!value && PyErr_Occurred() == nullptr) {
    value = Ref::create(PyCell_GET(cell));
    if (!value) {
      PyErr_Format(PyExc_NameError,
                   "cannot access free variable '%U' where it is not associated with a value in enclosing scope",
                   step.object);
    }
  }
  return value ? store(state, step, value.release()) : StepResult::kRaised;
}

}  // namespace tagalong::replay
