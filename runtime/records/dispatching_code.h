// Which code objects choose among hand-made specialisations of a function, and the dispatcher of each
// (runtime/specialize). Recordings treat calls of such code as opaque, because its frames continue in other code.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// Null: the code does not choose among specialisations. Borrowed. Used under the GIL, as the functions below.
[[nodiscard]] PyObject* dispatcher_of_code(const PyCodeObject* code);
// The dispatcher removes the entry before it or the code is freed. Throws std::bad_alloc.
void set_dispatcher_of_code(const PyCodeObject* code, PyObject* dispatcher);
void forget_dispatcher_of_code(const PyCodeObject* code);

}  // namespace tagalong::runtime
