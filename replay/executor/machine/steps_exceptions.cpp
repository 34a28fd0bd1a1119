// Exceptions inside a run: from the step that raises to the handler in the graph.
#include <array>

#include "replay/executor/machine/boxing.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "replay/objects/operations.h"
#include "replay/objects/overloads.h"
#include "rewriter/cpython/exceptions.h"

namespace tagalong::replay {

namespace {

constexpr const char* kUnboundLocal = "cannot access local variable '%s' where it is not associated with a value";

// Whether `except` accepts the object without an error.
bool is_catchable(PyObject* object) {
  if (!PyTuple_Check(object)) {
    return PyExceptionClass_Check(object) != 0;
  }
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(object); ++index) {
    if (PyExceptionClass_Check(PyTuple_GET_ITEM(object, index)) == 0) {
      return false;
    }
  }
  return true;
}

// The exception that is set, as an object with its traceback for the handler.
PyObject* take_exception() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyException_SetTraceback(value, traceback == nullptr ? Py_None : traceback);
  Py_XDECREF(traceback);
  Py_XDECREF(type);
  return value;
}

Ref traceback_of(PyObject* exception) {
  Ref traceback = Ref::steal(PyException_GetTraceback(exception));
  return traceback ? std::move(traceback) : Ref::create(Py_None);
}

PyObject* call_exit(PyObject* exit, PyObject* exception) {
  const Ref traceback = traceback_of(exception);
  std::array<PyObject*, 4> arguments = {nullptr, reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception,
                                        traceback.get()};
  return PyObject_Vectorcall(exit, &arguments[1], 3 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

StepResult push_exc_info(RunState& state, const Step& step, const std::int32_t* operands) {
  if (state.run.root == nullptr && !state.run.handles) {
    state.run.handles = true;
    state.run.handled_at_entry = Ref::create(cpython::handled(state.run.thread));
  }
  state.registers[step.result] =
      cpython::push_handled(state.run.thread, Ref::create(state.registers[operands[0]])).release();
  return StepResult::kNext;
}

}  // namespace

void complete_attribute_error(PyObject* object, PyObject* name) {
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) {
    return;
  }
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const auto* error = reinterpret_cast<PyAttributeErrorObject*>(value);
  if (PyErr_GivenExceptionMatches(value, PyExc_AttributeError) != 0 && error->name == nullptr &&
      error->obj == nullptr &&
      (PyObject_SetAttrString(value, "name", name) != 0 || PyObject_SetAttrString(value, "obj", object) != 0)) {
    PyErr_Clear();
  }
  PyErr_Restore(type, value, traceback);
}

StepResult raise_for_empty_cell(const Step& step) {
  if (!step.expects_raise) {
    return StepResult::kReexecute;
  }
  const char* name = PyUnicode_AsUTF8(step.object);
  if (name == nullptr) {  // the name cannot be encoded; eager execution raises the same
    return StepResult::kRaised;
  }
  if (step.immediate == 0) {
    PyErr_Format(PyExc_UnboundLocalError, kUnboundLocal, name);
    return StepResult::kRaised;
  }
  PyErr_Format(PyExc_NameError,
               "cannot access free variable '%s' where it is not associated with a value in enclosing scope", name);
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (PyObject_SetAttrString(value, "name", step.object) != 0) {
    PyErr_Clear();
  }
  PyErr_Restore(type, value, traceback);
  return StepResult::kRaised;
}

StepResult execute_exception(RunState& state, const Step& step, const std::int32_t* operands) {
  const auto operand = [&](int index) { return state.registers[operands[index]]; };
  switch (static_cast<ExceptionStep>(step.op)) {
    case ExceptionStep::traceback_entry:
      if (sync_location(state, step)) {
        const auto& chain = state.snapshot(step.snapshot).chain;
        cpython::add_traceback(state.run.thread, state.run.frames[chain.size() - 1]);
      }
      return StepResult::kNext;
    case ExceptionStep::catch_exception:
      sync_frames(state, step);
      return store(state, step, take_exception());
    case ExceptionStep::lasti:
      return store_int(state, step, unit_of(state, state.snapshot(step.snapshot)));
    case ExceptionStep::push_exc_info:
      return push_exc_info(state, step, operands);
    case ExceptionStep::pop_except:
      if (!sync_frames(state, step)) {
        return StepResult::kRaised;
      }
      cpython::set_handled(state.run.thread, Ref::create(operand(0)));
      return StepResult::kNext;
    case ExceptionStep::handled_exception:
      state.registers[step.result] = PyErr_GetHandledException();
      return StepResult::kNext;
    case ExceptionStep::reraise: {
      PyObject* value = operand(0);
      PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value))), Py_NewRef(value),
                    PyException_GetTraceback(value));
      return StepResult::kRaised;
    }
    case ExceptionStep::raise_init_result:
      PyErr_Format(PyExc_TypeError, "__init__() should return None, not '%.200s'", Py_TYPE(operand(0))->tp_name);
      return StepResult::kRaised;
    case ExceptionStep::unbound_local:
      if (const char* name = PyUnicode_AsUTF8(step.object)) {
        PyErr_Format(PyExc_UnboundLocalError, kUnboundLocal, name);
      }
      return StepResult::kRaised;
    case ExceptionStep::complete_attribute_error:
      complete_attribute_error(operand(0), step.object);
      return StepResult::kNext;
    case ExceptionStep::end_iteration:
      if (PyErr_ExceptionMatches(PyExc_StopIteration) == 0) {
        return StepResult::kRaised;
      }
      PyErr_Clear();
      return StepResult::kNext;
    case ExceptionStep::check_exc_match:
      if (is_catchable(operand(1))) {
        const bool matches = PyErr_GivenExceptionMatches(operand(0), operand(1)) != 0;
        return store(state, step, Py_NewRef(matches ? Py_True : Py_False));
      }
      return execute_by_thunk(state, step, ThunkStep::check_exc_match, operands);
    case ExceptionStep::class_of:
      return store(state, step, Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(operand(0)))));
    case ExceptionStep::exception_traceback:
      return store(state, step, traceback_of(operand(0)).release());
    case ExceptionStep::with_except_start:
      return sync_frames(state, step) ? store(state, step, call_exit(operand(0), operand(1))) : StepResult::kRaised;
    case ExceptionStep::finish_operator:
      return sync_frames(state, step) ? store(state, step, finish_operator(step.immediate, operand(0), operand(1)))
                                      : StepResult::kRaised;
    case ExceptionStep::finish_slot:
      return sync_frames(state, step) ? store(state, step, finish_slot(step.immediate, operand(0)))
                                      : StepResult::kRaised;
  }
  return StepResult::kReexecute;  // not reached
}

}  // namespace tagalong::replay
