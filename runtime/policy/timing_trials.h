// Timing single calls and rounds, as replays or as the original instructions, for measured_speed.h. The process times
// one unit at a time; all others run untimed. Used under the GIL.
#pragma once

#include "runtime/policy/measured_speed.h"
#include "runtime/policy/measurements.h"

namespace tagalong::runtime {

// Whether the frame has to run the original instructions here, because it belongs to a unit that is being timed with
// these instructions. A frame belongs to a unit if the unit called it, or if it is the unit's own call at another
// entry.
[[nodiscard]] bool is_timed_as_written(Measurements& subject, std::size_t entry, cpython::Frame* frame);

// Whether the call or the round that begins at this entry is replayed. If the call runs the original instructions and
// is timed, its frame is marked to notice the end.
[[nodiscard]] Execution begin_unit(Measurements& subject, std::size_t entry, cpython::Frame* frame);
// How a replayed unit has ended.
enum class RunEnd : std::uint8_t {
  kReturned,  // the call has a result
  kGoesOn,    // the original instructions continue
  kRecorded,  // a recording continues
};
void end_run(Measurements& subject, std::size_t entry, cpython::Frame* frame, RunEnd end);
// TraceLinker::stops_at for runs of this code.
[[nodiscard]] bool stops_for_trial(Measurements& subject, cpython::Frame* frame, replay::Arrivals& arrivals);
// A recording has ended in this thread: what was being timed includes it and is dropped.
void discard_timing();
// Stops timing units of this code.
void cancel_trials(const Measurements& subject);

}  // namespace tagalong::runtime
