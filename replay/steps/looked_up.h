// Names in dicts whose look-up runs no user code. A step caches the result with the versions of the dicts.
#pragma once

#include <Python.h>

#include "replay/steps/step.h"

namespace tagalong::replay {

// Whether the function's globals and builtins are exact dicts.
bool has_exact_name_dicts(PyObject* function);
// Whether, in addition, looking up this name calls no `__eq__` of a key.
bool look_up_runs_no_user_code(PyObject* function, PyObject* name);
// In the function's globals or builtins. Borrowed; null: the name is missing, or its look-up may run user code.
PyObject* look_up_global(const Step& step, PyObject* function);
// In a module's dict, unless its class takes precedence. Borrowed; null: the original instruction must be executed.
PyObject* look_up_in_module(const Step& step, PyObject* module);

}  // namespace tagalong::replay
