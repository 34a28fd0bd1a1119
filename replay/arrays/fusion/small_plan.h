// The short path for small fusion groups: arrays of one shape that are one row each, computed into new arrays by one
// fused kernel, or by several loops if there are few elements. It skips everything that would take longer than the
// loop: blocks, views, parts. In every other case, or where something has to be reported, it refuses, and the general
// path computes the group.
#pragma once

#include "replay/arrays/fusion/fusion_group.h"

namespace tagalong::array {

// Whether runs of the plan may take the short path.
[[nodiscard]] bool may_be_small(const FusionPlan& plan);

// False: nothing has happened.
bool run_small(const FusionPlan& plan, const Numpy& np, PyObject* const* externals, Ref* outputs, Backoff* backoff);

}  // namespace tagalong::array
