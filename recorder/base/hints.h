// Hints about objects: what kind of node is worth making for them. Never assumptions: nodes check again.
#pragma once

#include <Python.h>

namespace tagalong::recorder {

bool is_array_type(PyTypeObject* type);  // numpy.ndarray itself
bool is_ufunc(PyObject* object);         // a numpy.ufunc

}  // namespace tagalong::recorder
