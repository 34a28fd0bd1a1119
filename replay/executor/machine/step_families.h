// The families of steps that the step machine dispatches to, a source file each (steps_*.cpp). `operands`: the
// registers that the step takes; those of its results follow.
//
// Families with several steps switch over an enumeration of their own, without a default, so that a step of the family
// without a case does not compile. The step machine switches over all ops without a default: an op that belongs to no
// family does not compile either.
#pragma once

#include <cstdint>

#include "replay/executor/machine/run_state.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

enum class NumberStep : std::uint8_t {
#define TAGALONG_NUMBER_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class OperatorStep : std::uint8_t {
#define TAGALONG_OPERATOR_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class GlobalStep : std::uint8_t {
#define TAGALONG_GLOBAL_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class AttributeStep : std::uint8_t {
#define TAGALONG_ATTRIBUTE_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class NamespaceStep : std::uint8_t {
#define TAGALONG_NAMESPACE_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class CellStep : std::uint8_t {
#define TAGALONG_CELL_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class ContainerStep : std::uint8_t {
#define TAGALONG_CONTAINER_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class ExceptionStep : std::uint8_t {
#define TAGALONG_EXCEPTION_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};
enum class ThunkStep : std::uint8_t {
#define TAGALONG_THUNK_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#define TAGALONG_RARE_THUNK_STEP(name) name = static_cast<std::uint8_t>(Op::name),
#include "replay/steps/step_families.def"
};

// --- operators, on numbers and on other objects; NumPy's scalars. The right operand may be null.
StepResult execute_number(RunState& state, const Step& step, PyObject* left, PyObject* right);
StepResult execute_operator(RunState& state, const Step& step, PyObject* left, PyObject* right);
StepResult execute_scalars(RunState& state, const Step& step, PyObject* left, PyObject* right);

// --- arrays, one operation at a time
StepResult execute_array(RunState& state, const Step& step, const std::int32_t* operands);

// --- names, and attributes of ordinary instances
StepResult execute_global(RunState& state, const Step& step, const std::int32_t* operands);
StepResult execute_attribute(RunState& state, const Step& step, const std::int32_t* operands);
StepResult execute_namespace_name(RunState& state, const Step& step, const std::int32_t* operands);
StepResult load_classderef(RunState& state, const Step& step, const std::int32_t* operands);
// False: nothing has happened.
bool try_attribute(RunState& state, const Step& step, const std::int32_t* operands);
// False: nothing has happened.
bool rebind_global(const Step& step, PyObject* function, PyObject* value);

// What the step has found under its name, if that is still so; borrowed.
inline PyObject* known_global(const Step& step, PyObject* function) {
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  const bool holds =
      step.key == globals && step.version1 == cpython::dict_version(globals) &&
      (step.version2 == 0 ||
       step.version2 == cpython::dict_version(reinterpret_cast<PyFunctionObject*>(function)->func_builtins));
  return holds ? step.cached : nullptr;
}
// The same for globals that are bound all the time; null: it may be a builtin.
inline PyObject* find_global(const Step& step, PyObject* function) {
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  if (step.key != globals || step.version2 != 0) {
    return nullptr;
  }
  PyObject* found = cpython::find_name(globals, step.object, &step.hint);
  if (found != nullptr) {
    step.version1 = cpython::dict_version(globals);
    step.cached = found;
  }
  return found;
}

// --- cells, functions and their parts
StepResult execute_cell_or_function(RunState& state, const Step& step, const std::int32_t* operands);

// --- calls
StepResult execute_call(RunState& state, const Step& step, const std::int32_t* operands);
StepResult call_known_function(RunState& state, const Step& step, const std::int32_t* operands);
// The next item of an iterator whose NumPy operations may reuse nameless operands (eliding_calls.h).
PyObject* next_with_elision(const RunState& state, PyObject* iterator);

// --- containers and items
StepResult execute_container(RunState& state, const Step& step, const std::int32_t* operands);
StepResult execute_item(RunState& state, const Step& step, PyObject* container, PyObject* key, PyObject* value);
StepResult execute_array_item(RunState& state, const Step& step, PyObject* array, PyObject* key, PyObject* value);
StepResult execute_array_next(RunState& state, const Step& step, PyObject* iterator);
StepResult end_array(RunState& state, const Step& step, PyObject* iterator);
StepResult execute_loop_node(RunState& state, const Step& step, const std::int32_t* operands);

// --- exceptions
StepResult execute_exception(RunState& state, const Step& step, const std::int32_t* operands);
// What getattr() adds to an AttributeError that a getter has raised.
void complete_attribute_error(PyObject* object, PyObject* name);
// An unbound cell or local: the original instruction raises again, unless the graph continues with the exception.
StepResult raise_for_empty_cell(const Step& step);

// --- generators, and consumers of their items (consumers.h)
[[nodiscard]] bool generator_matches(PyObject* value, const Step& step);
StepResult execute_inlined_generator(RunState& state, const Step& step, const std::int32_t* operands);
StepResult execute_generator(RunState& state, const Step& step, const std::int32_t* operands);
StepResult execute_consumer(RunState& state, const Step& step, const std::int32_t* operands);

// --- instructions that the interpreter itself executes (cpython/thunks.h). `kind` is the step's own op.
StepResult execute_by_thunk(RunState& state, const Step& step, ThunkStep kind, const std::int32_t* operands);

}  // namespace tagalong::replay
