// Which code objects choose among hand-made specialisations of a function (runtime/specialize). Recordings treat calls
// of them as opaque, because their frames go on in other code.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

[[nodiscard]] bool is_dispatching_code(const PyCodeObject* code);
// Used under the GIL. The owner of the code removes it before the code is freed. `add` throws std::bad_alloc.
void add_dispatching_code(const PyCodeObject* code);
void remove_dispatching_code(const PyCodeObject* code);

}  // namespace tagalong::runtime
