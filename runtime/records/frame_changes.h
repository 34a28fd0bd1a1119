// Changing where a frame continues. A stub asks its anchor; if the anchor has no result but a change is pending, the
// stub calls a Python function of tagalong's, whose C part changes the waiting frame
// (rewriter/cpython/frame_redirect.h). Between the decision and the change this thread runs nothing else.
#pragma once

#include <vector>

#include "replay/executor/executor.h"
#include "runtime/records/code_record.h"

namespace tagalong::runtime {

enum class FrameChange : std::uint8_t {
  kNone,
  kSideExit,  // the frame gets the state of a side exit and continues there
  kRecord,    // in recording code
  kRestore,   // in the original code, since the replay code is retired, or a tool has events
};

namespace detail {
inline constinit thread_local FrameChange pending_change = FrameChange::kNone;
}
[[nodiscard]] inline FrameChange pending_change() { return detail::pending_change; }
// `entry`: for kRecord and kRestore, where the frame continues; the side exit has its stack.
void set_pending_change(FrameChange change, std::size_t entry, replay::SideExit&& side_exit);
// The stack is what the frame has now, up to this depth.
void set_pending_change(FrameChange change, std::size_t entry, cpython::Frame* frame, int depth);
// Whether the frame, with so many values on its stack, leaves replay code, since a tool has its events in the code.
// Asked at every call, where only versions whose tools have events in the code have to look.
namespace detail {
bool can_go_on_as_written(const cpython::Frame* frame, const CodeRecord& record, std::size_t depth);
}
[[nodiscard]] inline bool goes_on_as_written(const PyThreadState* thread, const cpython::Frame* frame,
                                             const CodeRecord& record, std::size_t depth) {
  return version::kEventsAreInCode && cpython::has_watcher(thread) &&
         detail::can_go_on_as_written(frame, record, depth);
}
// Of this frame. `anchor` keeps its record alive until then.
void commit_pending_change(cpython::Frame* frame, Ref anchor);

// The iterator in stubs that has an item exactly when a change is pending for this thread, and the function that makes
// the change.
Ref redirect_iterator();
Ref redirect_function();

}  // namespace tagalong::runtime
