// Generators, coroutines and asynchronous generators of CPython 3.11.
#pragma once

#include <Python.h>

#include "version/frames.h"

namespace tagalong::version {

// The code of a generator, a coroutine or an asynchronous generator, borrowed.
inline PyCodeObject* code_of_generator(PyGenObject* generator) { return generator->gi_code; }

}  // namespace tagalong::version
