// Variables of frames in runs that the program assigns to from outside, through frame.f_locals. In a run, registers
// hold the values of variables. So the run leaves behind the step, and the frame keeps what was assigned.
#pragma once

#include <algorithm>

#include "replay/executor/run.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::replay {

// The runs that have begun and not ended, of all threads; used under the GIL.
class ActiveRun {
 public:
  explicit ActiveRun(Run& run) : run_(run) {
    if constexpr (version::kProgramsWriteLocals) {
      begin();
    }
  }
  ActiveRun(const ActiveRun&) = delete;
  ActiveRun& operator=(const ActiveRun&) = delete;
  ~ActiveRun() {
    if constexpr (version::kProgramsWriteLocals) {
      end();
    }
  }

 private:
  void begin();
  void end();

  Run& run_;
};

// To be called when the program has assigned to this slot of a frame.
void note_written_local(const cpython::Frame* frame, int slot);

// Whether the slot holds what the program has assigned, and not what a register holds.
inline bool is_written(const Run& run, const cpython::Frame* frame, std::size_t slot) {
  return !run.written.empty() &&
         std::ranges::find(run.written, WrittenLocal{frame, static_cast<int>(slot)}) != run.written.end();
}

}  // namespace tagalong::replay
