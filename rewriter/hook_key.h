// The argument of a hook: 2 * index in front of and 2 * index + 1 behind an instruction, as integer objects that only
// hooks use. CPython's own small integers would not do, because programs can read their reference counts.
//
//   Ref key = hook_key(2 * index);   hook_key_of(key.get()) == 2 * index
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::rewriter {

// `number` is at least -1. Throws PythonError.
Ref hook_key(int number);

inline long hook_key_of(PyObject* key) { return PyLong_AsLong(key); }

}  // namespace tagalong::rewriter
