// Trace trees: where runs often take the link from one executor to another, that one becomes a part of the first, so
// the next run gets there by a jump, with the frame's values in the same registers. After A. Gal and M. Franz,
// "Incremental dynamic code generation with trace trees" (2006); here a part is copied, not compiled anew, and the
// original stays attached where it was, for other runs that come there.
#pragma once

#include <cstddef>
#include <memory>

#include "replay/executor/executor.h"
#include "replay/ir/limits.h"

namespace tagalong::replay {

// `root` with one more link: from the step where it leaves to `next`, which is attached at `place`. Neither of them is
// changed. Null: no such link is possible, or a limit is reached (`parts`, `operations`), which is counted.
std::shared_ptr<Executor> grow(const std::shared_ptr<Executor>& root, std::size_t step,
                               const std::shared_ptr<Executor>& next, const Attached* place, const Limits& limits,
                               Reached& reached);

}  // namespace tagalong::replay
