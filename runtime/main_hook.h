// Seeing the `__main__` module's own frame before it runs, once: its code can be rewritten although nothing imports it.
// The evaluation hook goes as soon as that frame has been seen.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// `callback(code)` returns the code object to run instead. An exception of it propagates out of the frame.
void install_main_hook(const Ref& callback);

}  // namespace tagalong::runtime
