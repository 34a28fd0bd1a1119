// Executors that grow into trees of traces: where a run often goes on in another executor, that one becomes a part of
// the first, so the next run gets there by a jump, with the frame's values in registers of one file. After the trace
// trees of A. Gal and M. Franz, "Incremental dynamic code generation with trace trees" (2006); here a part is copied,
// not compiled anew, and stays attached where it was, for others who come there.
#pragma once

#include <cstddef>
#include <memory>

#include "replay/executor/executor.h"
#include "replay/ir/limits.h"

namespace tagalong::replay {

// `root` with one more way: from the step where it leaves to `next`, which is attached at `place`. Neither of them is
// changed. Null: there is no such way, or a limit is reached (`parts`, `operations`), which is counted.
std::shared_ptr<Executor> grow(const std::shared_ptr<Executor>& root, std::size_t step,
                               const std::shared_ptr<Executor>& next, const Attached* place, const Limits& limits,
                               Reached& reached);

}  // namespace tagalong::replay
