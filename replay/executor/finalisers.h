// Whether the end of an object can be noticed: by a finaliser, a weak reference, or whatever else runs user code then.
#pragma once

#include <Python.h>

namespace tagalong::replay {

// Whether the object dies without running user code, as intermediate results of arithmetic do.
[[nodiscard]] bool dies_without_user_code(PyObject* object);
// Whether no user code runs when up to this many references to the object are dropped.
[[nodiscard]] bool drops_without_user_code(PyObject* object, Py_ssize_t most);

}  // namespace tagalong::replay
