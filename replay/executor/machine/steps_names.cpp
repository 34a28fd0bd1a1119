// Globals and attributes by name; and variables of a root frame that live in a mapping, where each instruction is
// executed by the interpreter itself, on that mapping.
#include <array>
#include <vector>

#include "replay/executor/finalisers.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/operations.h"
#include "replay/steps/looked_up.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/thunks.h"
#include "version/thunks.h"

namespace tagalong::replay {

namespace op = rewriter::op;

namespace {

// The frames are made real in front of what may run user code.
bool begin_user_code(RunState& state, const Step& step) {
  state.user_code_step = static_cast<std::int32_t>(state.program.index_of(step));
  return sync_frames(state, step);
}

StepResult store_new(RunState& state, const Step& step, PyObject* borrowed) {
  state.registers[step.result] = Py_NewRef(borrowed);
  return StepResult::kNext;
}

// The two results of loading a method: the function and its object, or null and what is called.
StepResult store_method(RunState& state, const Step& step, const std::int32_t* operands, PyObject* first,
                        PyObject* second) {
  state.registers[operands[step.operand_count]] = first;
  state.registers[operands[step.operand_count + 1]] = second;
  return StepResult::kNext;
}

}  // namespace

StepResult execute_global(RunState& state, const Step& step, const std::int32_t* operands) {
  PyObject* owner = state.registers[operands[0]];
  switch (static_cast<GlobalStep>(step.op)) {
    case GlobalStep::load_global: {
      PyObject* known = known_global(step, owner);
      PyObject* value = known != nullptr ? known : look_up_global(step, owner);
      if (value != nullptr) {
        return store_new(state, step, value);
      }
      return step.expects_raise && look_up_runs_no_user_code(owner, step.object)
                 ? execute_by_thunk(state, step, ThunkStep::load_global, operands)
                 : StepResult::kReexecute;
    }
    case GlobalStep::store_global: {
      PyObject* globals = PyFunction_GET_GLOBALS(owner);
      if (cpython::asks_keys(globals, step.object)) {
        return StepResult::kReexecute;
      }
      return begin_user_code(state, step)
                 ? from_status(PyDict_SetItem(globals, step.object, state.registers[operands[1]]))
                 : StepResult::kRaised;
    }
    case GlobalStep::load_module_attr: {
      PyObject* value = look_up_in_module(step, owner);
      return value != nullptr ? store_new(state, step, value) : StepResult::kReexecute;
    }
    case GlobalStep::load_module_method: {
      PyObject* value = look_up_in_module(step, owner);
      return value != nullptr ? store_method(state, step, operands, nullptr, Py_NewRef(value)) : StepResult::kReexecute;
    }
  }
  return StepResult::kReexecute;  // not reached
}

StepResult execute_attribute(RunState& state, const Step& step, const std::int32_t* operands) {
  PyObject* owner = state.registers[operands[0]];
  const bool may_be_direct = step.op != Op::member && step.op != Op::delete_attr && !step.expects_raise;
  if (may_be_direct && try_attribute(state, step, operands)) {
    return StepResult::kNext;
  }
  if (!begin_user_code(state, step)) {
    return StepResult::kRaised;
  }
  switch (static_cast<AttributeStep>(step.op)) {
    case AttributeStep::member:
    case AttributeStep::load_attr:
      return store(state, step, PyObject_GetAttr(owner, step.object));
    case AttributeStep::store_attr:
      return from_status(PyObject_SetAttr(owner, step.object, state.registers[operands[1]]));
    case AttributeStep::delete_attr:
      return from_status(PyObject_SetAttr(owner, step.object, nullptr));
    case AttributeStep::load_method: {
      std::array<PyObject*, 2> results{};
      return replay::load_method(owner, step.object, results.data())
                 ? store_method(state, step, operands, results[0], results[1])
                 : StepResult::kRaised;
    }
  }
  return StepResult::kReexecute;  // not reached
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
std::vector<cpython::Instruction> instructions_of(NamespaceStep op) {
  switch (op) {
    case NamespaceStep::load_name:
      return {{op::kLOAD_NAME, 0}};
    case NamespaceStep::store_name:
      return {{op::kCOPY, 1}, {op::kSTORE_NAME, 0}};
    case NamespaceStep::delete_name:
      return {{op::kDELETE_NAME, 0}, {op::kBUILD_TUPLE, 0}};
    case NamespaceStep::import_star:
      return {{op::kCOPY, 1}, version::kImportStar};
    case NamespaceStep::print_expr:
      return {{op::kCOPY, 1}, version::kPrintExpression};
    case NamespaceStep::setup_annotations:
      return {{op::kSETUP_ANNOTATIONS, 0}, {op::kBUILD_TUPLE, 0}};
  }
  return {};  // not reached
}

}  // namespace

StepResult execute_namespace_name(RunState& state, const Step& step, const std::int32_t* operands) {
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  if (!step.helper) {
    const Ref names = step.object != nullptr ? Ref::steal(PyTuple_Pack(1, step.object)) : Ref();
    const CodeRef code =
        cpython::make_namespace_thunk(instructions_of(static_cast<NamespaceStep>(step.op)), names.get());
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
