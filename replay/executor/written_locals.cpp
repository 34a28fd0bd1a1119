#include "replay/executor/written_locals.h"

#include "rewriter/cpython/foreign_eval.h"

namespace tagalong::replay {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): used under the GIL
Run* g_runs = nullptr;
int g_runs_with_written = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

// A doubly linked list: runs of several stacks of frames end in any order.
void ActiveRun::begin() {
  run_.next = g_runs;
  run_.previous = nullptr;
  if (g_runs != nullptr) {
    g_runs->previous = &run_;
  }
  g_runs = &run_;
}

void ActiveRun::end() {
  (run_.previous == nullptr ? g_runs : run_.previous->next) = run_.next;
  if (run_.next != nullptr) {
    run_.next->previous = run_.previous;
  }
  if (!run_.written.empty() && --g_runs_with_written == 0) {
    cpython::reasons_to_leave &= ~cpython::kWrittenLocals;
  }
}

void note_written_local(const cpython::Frame* frame, int slot) {
  for (Run* run = g_runs; run != nullptr; run = run->next) {
    cpython::Frame** const end = run->frames + run->depth;
    if (std::find(run->frames, end, frame) != end) {
      g_runs_with_written += run->written.empty() ? 1 : 0;
      run->written.push_back({frame, slot});
      cpython::reasons_to_leave |= cpython::kWrittenLocals;
    }
  }
}

}  // namespace tagalong::replay
