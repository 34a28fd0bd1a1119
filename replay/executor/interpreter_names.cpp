// The root frame's variables in a mapping: each instruction is executed by the interpreter itself, on that mapping.
#include <opcode.h>

#include <array>
#include <vector>

#include "replay/executor/interpreter.h"
#include "rewriter/cpython/thunks.h"

namespace tagalong::replay {
namespace {

// Behind a COPY of the value, the thunk has something to return.
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

Interpreter::StepResult Interpreter::execute_names(const Step& step, const std::int32_t* operands) {
  if (!sync(step)) {
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
  PyObject* value = has_value ? registers_[operands[2]] : nullptr;
  Ref result = Ref::steal(cpython::run_namespace_thunk(reinterpret_cast<PyCodeObject*>(step.helper.get()),
                                                       reinterpret_cast<PyFunctionObject*>(registers_[operands[0]]),
                                                       registers_[operands[1]], &value, has_value ? 1 : 0));
  if (!result) {
    return StepResult::kRaised;
  }
  if (step.result_count != 0) {
    registers_[step.result] = result.release();
  }
  return StepResult::kNext;
}

// What the name was bound to dies alone or not at all, so nobody looks, and the dict stays of the size it has.
bool Interpreter::rebind_global(const Step& step, PyObject* function, PyObject* value) {
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  PyObject* old = PyDict_CheckExact(globals) ? cpython::find_name(globals, step.object, &step.hint) : nullptr;
  if (old == nullptr || (Py_REFCNT(old) == 1 && !dies_alone(old)) || PyDict_SetItem(globals, step.object, value) != 0) {
    PyErr_Clear();
    return false;
  }
  return true;
}

Interpreter::StepResult Interpreter::load_classderef(const Step& step, const std::int32_t* operands) {
  PyObject* names = registers_[operands[0]];
  PyObject* cell = registers_[operands[1]];
  if (!sync(step)) {
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
  return value ? store(step, value.release()) : StepResult::kRaised;
}

}  // namespace tagalong::replay
