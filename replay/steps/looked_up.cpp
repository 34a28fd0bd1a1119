#include "replay/steps/looked_up.h"

#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

bool has_exact_name_dicts(PyObject* function) {
  const auto* of = reinterpret_cast<PyFunctionObject*>(function);
  return PyDict_CheckExact(of->func_globals) && PyDict_CheckExact(of->func_builtins);
}

bool look_up_runs_no_user_code(PyObject* function, PyObject* name) {
  const auto* of = reinterpret_cast<PyFunctionObject*>(function);
  return has_exact_name_dicts(function) && !cpython::asks_keys(of->func_globals, name) &&
         !cpython::asks_keys(of->func_builtins, name);
}

PyObject* look_up_global(const Step& step, PyObject* function) {
  if (!has_exact_name_dicts(function)) {
    return nullptr;
  }
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  PyObject* builtins = reinterpret_cast<PyFunctionObject*>(function)->func_builtins;
  if (cpython::asks_keys(globals, step.object)) {
    return nullptr;
  }
  PyObject* value = cpython::find_name(globals, step.object, &step.hint);
  const bool is_builtin = value == nullptr;
  if (is_builtin) {
    value = cpython::find_name(builtins, step.object, &step.hint);
  }
  if (value != nullptr) {
    step.key = globals;
    step.version1 = cpython::dict_version(globals);
    step.version2 = is_builtin ? cpython::dict_version(builtins) : 0;
    step.cached = value;
  }
  return value;
}

PyObject* look_up_in_module(const Step& step, PyObject* module) {
  if (!PyModule_CheckExact(module)) {
    return nullptr;
  }
  PyObject* dict = PyModule_GetDict(module);
  if (step.key != dict || step.version1 != cpython::dict_version(dict)) {
    PyObject* value = cpython::find_without_side_effects(dict, step.object);
    // An attribute of the module type might take precedence.
    if (value == nullptr || _PyType_Lookup(&PyModule_Type, step.object) != nullptr) {
      return nullptr;
    }
    step.key = dict;
    step.version1 = cpython::dict_version(dict);
    step.cached = value;
  }
  return step.cached;
}

}  // namespace tagalong::replay
