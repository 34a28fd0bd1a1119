// What a hook is called with: 2 * index in front of and 2 * index + 1 behind an instruction, as integer objects that
// are nobody else's. CPython's own small integers would not do: programs count the references to them.
//
//   Ref key = hook_key(2 * index);   hook_key_of(key.get()) == 2 * index
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::rewriter {

// From -1 on. Throws PythonError.
Ref hook_key(int number);

inline long hook_key_of(PyObject* key) { return PyLong_AsLong(key); }

}  // namespace tagalong::rewriter
