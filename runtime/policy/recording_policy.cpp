#include "runtime/policy/recording_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/ir/stages.h"
#include "rewriter/base/text.h"
#include "runtime/policy/cost_model.h"
#include "runtime/policy/recording_budget.h"

namespace tagalong::runtime {

using recorder::Limits;
using replay::Limit;

bool RecordingPolicy::wants_recording(PyThreadState* thread, std::size_t entry) {
  if (recordings_.has(thread)) {
    recordings_.refuse();
    return false;
  }
  if (entry == 0 && !code_.records_calls) {
    return false;
  }
  const Limits& limits = code_.limits();
  if (std::cmp_greater_equal(recordings_.size(), limits.recordings)) {
    count_limit(code_.counters, Limit::k_recordings);
    return false;
  }
  Entry& place = code_.entries[entry];
  if (place.attempts.failures >= limits.retries || place.attempts.short_lived >= limits.retries) {
    count_limit(code_.counters, Limit::k_retries);
    return false;
  }
  if (std::cmp_greater_equal(place.executors.size(), limits.entries_per_anchor)) {
    count_limit(code_.counters, Limit::k_entries_per_anchor);
    return false;
  }
  return !is_over_budget(place) && is_within_quota();
}

bool RecordingPolicy::is_hot(PyThreadState* thread, std::size_t entry) {
  constexpr int kMostDoublings = 8;
  Attempts& attempts = code_.entries[entry].attempts;
  const Limits& limits = code_.limits();
  measurements_.note_arrival(entry);
  if (++attempts.heat < std::int64_t{limits.heat} << std::min(attempts.failures, kMostDoublings)) {
    return false;
  }
  attempts.heat = 0;
  if (!wants_recording(thread, entry)) {
    return false;
  }
  if (std::cmp_greater_equal(code_.entries.executor_count(), limits.executors)) {
    count_limit(code_.counters, Limit::k_executors);
    return false;
  }
  count_limit(code_.counters, Limit::k_heat);
  return true;
}

// Loops, and further paths through loops that pay, are always recorded.
bool RecordingPolicy::is_exempt_from_budget(const Entry& entry) const {
  const auto pays = [](const replay::Executor* executor) { return executor->gain().round > 0; };
  return entry.is(Entry::Kind::kHeader) ||
         (entry.is(Entry::Kind::kExit) && std::ranges::any_of(code_.entries.executors(), pays));
}

// Asking in vain takes longer than replaying a short call would save: code that is called often meanwhile is retired
// until recordings are affordable again.
bool RecordingPolicy::is_over_budget(Entry& entry) {
  constexpr int kMostCalls = 500;
  if (code_.is_traced_by_name() || !code_.may_retire() || is_exempt_from_budget(entry)) {
    return false;
  }
  if (recording_budget().may_spend(code_.limits().share)) {
    Retirement::revive_next();
    return false;
  }
  count_limit(code_.counters, Limit::k_share);
  if (entry.has_stub() && ++entry.attempts.over_budget >= kMostCalls) {
    retirement_.retire_until_affordable();
  }
  return true;
}

bool RecordingPolicy::is_within_quota() {
  replay::Quota& quota = replay::function_quota;
  if (!replay::is_on(replay::Stage::recording)) {
    return false;
  }
  if (!is_within_quota_) {
    is_within_quota_ = quota.take();
    if (*is_within_quota_ && quota.is_used_up() && is_logged(Topic::kRecord)) {
      const PyCodeObject* code = code_.original();
      log(Topic::kRecord, fmt::format("{}: the last function that is recorded, line {} of {}", code_.name(),
                                      code->co_firstlineno, cpython::readable(code->co_filename)));
    }
  }
  return *is_within_quota_;
}

void RecordingPolicy::note_recorded(std::size_t entry, const recorder::Recorded& recorded) {
  const Entry& place = code_.entries[entry];
  if (!code_.is_traced_by_name() && !is_exempt_from_budget(place)) {
    recording_budget().recorded(recorded.graph.nodes.size());
  }
  count(code_.counters, place.has_stub() ? Event::kRecord : Event::kBridge);
  count_stop(code_.counters, recorded.stop);
  code_.count_limits(recorded.reached);
}

void RecordingPolicy::note_failure(std::size_t entry, Failure failure) {
  Entry& place = code_.entries[entry];
  switch (failure) {
    case Failure::kNone:
      return;
    case Failure::kUseless:
      ++place.attempts.failures;
      close_if_given_up(entry);
      return;
    case Failure::kObjectDied:
      ++place.attempts.short_lived;
      return;
    case Failure::kKnown:
      // Another thread has recorded the same call; or something has changed that the trace does not guard at its entry.
      place.attempts.failures += place.is(Entry::Kind::kCall) ? 0 : 1;
      return;
    case Failure::kNoReplays:
      place.attempts.failures = code_.limits().retries;
      return;
  }
}

bool RecordingPolicy::accepts(std::size_t entry, const replay::Executor& executor, recorder::Stop stop) {
  Entry& place = code_.entries[entry];
  const bool expects_loss = code_.may_retire() && never_pays(executor, place.is(Entry::Kind::kCall));
  measurements_.expect_loss(entry, expects_loss);
  if (expects_loss && !(measurements_.are_on() && place.has_stub())) {
    place.attempts.failures = code_.limits().retries;  // another recording would give the same estimate
    place.attempts.loss = -executor.gain().round;
    close_if_given_up(entry);
    return false;
  }
  place.attempts.failures = stop == recorder::Stop::kNone ? 0 : place.attempts.failures + 1;
  return true;
}

void RecordingPolicy::note_death(std::size_t entry, const replay::Executor& executor) {
  constexpr std::uint64_t kOfUse = 8;  // runs that were worth a recording
  code_.entries[entry].attempts.short_lived += executor.hits + executor.exits < kOfUse ? 1 : 0;
}

// An entry without executors that is not recorded any more costs time in each round, so its stub is closed. If that
// holds for all entries, the whole code is retired.
void RecordingPolicy::close_if_given_up(std::size_t entry) {
  Entry& place = code_.entries[entry];
  const bool is_given_up = place.attempts.failures >= code_.limits().retries && place.executors.empty();
  PyCodeObject* code = code_.replay_code.get();
  if (!is_given_up || !place.has_stub() || !code_.may_retire() || code == nullptr) {
    return;
  }
  place.stub.close(code);
  const auto is_over = [](const Entry& each) {
    return each.executors.empty() && (!each.has_stub() || each.stub.is_closed);
  };
  Stub& call = code_.entries.front().stub;
  if (call.is_closed && std::ranges::all_of(code_.entries, is_over)) {
    call.open(code);
    retirement_.retire(place.attempts.loss);
  }
}

}  // namespace tagalong::runtime
