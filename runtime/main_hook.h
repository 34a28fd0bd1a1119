// Changes the code of the `__main__` module just before it runs, since nothing imports that module. The evaluation hook
// is removed as soon as it has seen that frame.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// `callback(code)` returns the code object to run instead. Its exceptions propagate out of the frame.
void install_main_hook(const Ref& callback);

}  // namespace tagalong::runtime
