// Generators, coroutines and asynchronous generators of CPython 3.13.
#pragma once

#include <Python.h>

#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include <internal/pycore_genobject.h>
#include <internal/pycore_pyerrors.h>
#undef Py_BUILD_CORE

#include "version/frames.h"

namespace tagalong::version {

// The code of a generator, a coroutine or an asynchronous generator, borrowed.
inline PyCodeObject* code_of_generator(PyGenObject* generator) {
  PyCodeObject* code = PyGen_GetCode(generator);
  Py_DECREF(code);
  return code;
}

}  // namespace tagalong::version
