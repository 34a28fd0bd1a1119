// What is recorded, and what is kept of it: which calls, rounds and side exits of one code object start a recording,
// and what a recording that gave no executor, or one that does not pay, means for the next one.
#pragma once

#include <cstddef>

#include "recorder/trace/recorded.h"
#include "runtime/policy/active_recordings.h"
#include "runtime/policy/measurements.h"
#include "runtime/policy/retirement.h"

namespace tagalong::runtime {

// Why a recording has given no executor.
enum class Failure : std::uint8_t {
  kNone,
  kUseless,     // nothing was recorded, or a trace that does not go round its loop
  kObjectDied,  // that the graph needs
  kKnown,       // the same graph is there already
  kNoReplays,   // replaying is switched off
};

class RecordingPolicy {
 public:
  RecordingPolicy(TracedCode& code, Measurements& measurements, ActiveRecordings& recordings, Retirement& retirement)
      : code_(code), measurements_(measurements), recordings_(recordings), retirement_(retirement) {}

  // Whether to record a call or a resumption that starts now at this entry.
  [[nodiscard]] bool wants_recording(PyThreadState* thread, std::size_t entry);
  // Whether to record a round of a loop, or what follows a side exit. Counts the arrival.
  bool is_hot(PyThreadState* thread, std::size_t entry);

  // A recording has ended: counts it and charges the budget.
  void note_recorded(std::size_t entry, const recorder::Recorded& recorded);
  // It gave no executor.
  void note_failure(std::size_t entry, Failure failure);
  // It gave this one. False: by estimate replays would only lose time, and that cannot be measured.
  [[nodiscard]] bool accepts(std::size_t entry, const replay::Executor& executor, recorder::Stop stop);
  // An object's death has removed an executor.
  void note_death(std::size_t entry, const replay::Executor& executor);

 private:
  [[nodiscard]] bool is_exempt_from_budget(const Entry& entry) const;
  [[nodiscard]] bool is_over_budget(Entry& entry);
  [[nodiscard]] bool is_within_quota();
  void close_if_given_up(std::size_t entry);

  TracedCode& code_;
  Measurements& measurements_;
  ActiveRecordings& recordings_;
  Retirement& retirement_;
  std::optional<bool> is_within_quota_;  // none: it was not asked for yet
};

}  // namespace tagalong::runtime
