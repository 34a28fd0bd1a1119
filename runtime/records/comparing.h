// The compare mode (`TAGALONG=compare`). A frame that has graphs to replay is executed twice from the same state: in a
// copy of the process (fork) its graphs are replayed, and in this process, which goes on with the program, it runs as
// written. Both tell what can be observed when the frame returns, yields or raises.
//
// All of that happens around the frame's evaluation (rewriter/cpython/eval_hook.h), so the program sees neither frames
// nor functions nor cells of ours. In this process graphs are recorded, but none is run.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

namespace detail {
inline constinit bool runs_as_written = false;
}
// Whether graphs are left alone, as in the process that goes on with the program.
inline bool runs_as_written() { return detail::runs_as_written; }

// From now on frames are compared. In the copy `tell(pipe, has_replayed, inputs, ended)` is called when the frame has
// run, with its result, its exception and whether it has yielded in `ended`. In this process `compare(pipe, process,
// (code, module, number of the call), inputs, ended)` is called; it returns whether the copy has replayed anything.
// Throws PythonError.
void start_comparing(const Ref& tell, const Ref& compare, const Ref& fork);

}  // namespace tagalong::runtime
