// Variables of frames in runs that the program assigns to from outside, through frame.f_locals. In a run, registers
// hold the values of variables. So the run leaves behind the step, and the frame keeps what was assigned.
//
// What is kept here lies on the heap: a switch of greenlets takes the C stack, and so a Run, away for a while.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rewriter/cpython/frames.h"

namespace tagalong::replay {

namespace detail {

struct WrittenLocal {
  const cpython::Frame* frame;
  std::size_t slot;
  bool operator==(const WrittenLocal&) const = default;
};
// Those of frames that are in runs.
std::vector<WrittenLocal>& written_locals();
std::uint64_t begin_run(const cpython::Frame* root);
void end_run(std::uint64_t run);
void add_frame(std::uint64_t run, const cpython::Frame* frame);
void remove_frame(const cpython::Frame* frame);

}  // namespace detail

// A run that has begun and not ended, with its real frames.
class ActiveRun {
 public:
  explicit ActiveRun(const cpython::Frame* root) {
    if constexpr (version::kProgramsWriteLocals) {
      number_ = detail::begin_run(root);
    }
  }
  ActiveRun(const ActiveRun&) = delete;
  ActiveRun& operator=(const ActiveRun&) = delete;
  ~ActiveRun() {
    if constexpr (version::kProgramsWriteLocals) {
      detail::end_run(number_);
    }
  }
  void add(const cpython::Frame* frame) const {
    if constexpr (version::kProgramsWriteLocals) {
      detail::add_frame(number_, frame);
    }
  }
  static void remove(const cpython::Frame* frame) {
    if constexpr (version::kProgramsWriteLocals) {
      detail::remove_frame(frame);
    }
  }

 private:
  std::uint64_t number_ = 0;
};

// To be called when the program has assigned to this slot of a frame.
void note_written_local(const cpython::Frame* frame, int slot);

// Whether the slot of a frame in a run holds what the program has assigned, and not what a register holds.
inline bool is_written(const cpython::Frame* frame, std::size_t slot) {
  if constexpr (version::kProgramsWriteLocals) {
    const auto& written = detail::written_locals();
    return !written.empty() && std::ranges::find(written, detail::WrittenLocal{frame, slot}) != written.end();
  }
  return false;
}

}  // namespace tagalong::replay
