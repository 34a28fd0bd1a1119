// Timing single calls and rounds, replayed or as written, for measured_speed.h. One is timed at a time in the whole
// process. What is asked for meanwhile goes on untimed. Used under the GIL.
#pragma once

#include "runtime/policy/measured_speed.h"
#include "runtime/records/code_record.h"

namespace tagalong::runtime {

// True: what is being timed as written calls this, or is a part of the same call, so it runs as written. `entry` is
// asked there.
[[nodiscard]] bool is_timed_as_written(CodeRecord& record, std::size_t entry, cpython::Frame* frame);

// The way of what begins at this entry with this frame: a call, or a round of a loop. For a call as written that is
// timed it prepares the frame.
[[nodiscard]] Way begin_unit(CodeRecord& record, std::size_t entry, cpython::Frame* frame);
// What has become of it if it was replayed.
enum class RunEnd : std::uint8_t {
  kReturned,  // the call has a result
  kGoesOn,    // in the original instructions
  kRecorded,  // in a recording
};
void end_run(CodeRecord& record, std::size_t entry, cpython::Frame* frame, RunEnd end);
// As Stitcher::stops_at, of runs of this record.
[[nodiscard]] bool stops_for_trial(CodeRecord& record, cpython::Frame* frame, replay::Arrivals& arrivals);
// Something was recorded meanwhile, which takes long.
void disturb_trials();
// Nothing of this record is timed any more.
void cancel_trials(const CodeRecord& record);

}  // namespace tagalong::runtime
