// Hints about objects: which kind of node to record for them. Nothing relies on a hint: the nodes check again.
#pragma once

#include <Python.h>

namespace tagalong::recorder {

bool is_array_type(PyTypeObject* type);  // exactly numpy.ndarray
bool is_ufunc(PyObject* object);         // a numpy.ufunc

}  // namespace tagalong::recorder
