// Compare mode (`TAGALONG=compare`). A frame that has graphs is executed twice from the same state: a copy of the
// process (fork) replays the graphs, and this process, which continues with the program, runs the original
// instructions. Both report what can be observed when the frame returns, yields or raises.
//
// All of that happens around the frame's evaluation (rewriter/cpython/eval_hook.h), so the program sees no frames,
// functions or cells of tagalong's. This process records graphs, but runs none.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

namespace detail {
inline constinit bool runs_as_written = false;
}
// Whether this process runs no graphs, since it is the one that continues with the program.
inline bool runs_as_written() { return detail::runs_as_written; }

// From now on frames are compared. In the copy `tell(pipe, has_replayed, inputs, ended)` is called when the frame has
// run, with its result, its exception and whether it has yielded in `ended`. In this process `compare(pipe, process,
// (code, module, number of the call), inputs, ended)` is called; it returns whether the copy has replayed anything.
// Throws PythonError.
void start_comparing(const Ref& tell, const Ref& compare, const Ref& fork);

}  // namespace tagalong::runtime
