// Names in dicts that run no code: what a step finds there it keeps, with the versions of the dicts.
#pragma once

#include <Python.h>

#include "replay/steps/step.h"

namespace tagalong::replay {

// Whether the function's globals and builtins are exact dicts.
bool has_quiet_names(PyObject* function);
// Whether in addition no key of them has code of the program's that is asked for this name.
bool is_quiet_name(PyObject* function, PyObject* name);
// Of the function's globals or its builtins. Borrowed; null: there is none, or the names are not quiet.
PyObject* look_up_global(const Step& step, PyObject* function);
// Of a module's dict, unless its class goes first. Borrowed; null: the original instruction knows.
PyObject* look_up_in_module(const Step& step, PyObject* module);

}  // namespace tagalong::replay
