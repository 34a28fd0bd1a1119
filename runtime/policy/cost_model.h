// The cost model: what a replay saves or costs against the original instructions, in ns, estimated from its graph. The
// figures come from `scripts/bench` and need not be exact: a function is retired only if its runs together have lost
// time, and then it runs at the speed of the original instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/executor/executor.h"

namespace tagalong::runtime {

// `largest_array`: elements of the largest array in the recorded call.
[[nodiscard]] replay::Gain gain_of(const replay::Executor& executor, std::int64_t largest_array);
// By step: the part of the gain that a run loses if it leaves there, and the cost of the frames that it then makes.
[[nodiscard]] std::vector<std::int32_t> exit_losses(const replay::Executor& executor, std::int64_t largest_array);
// Of a run with this outcome. `is_linked`: of its last executor, after a trace link.
[[nodiscard]] int gain_of(const replay::Run& run, replay::Outcome outcome, const replay::Gain& gain,
                          bool is_linked = false);

inline constexpr int kMissGain = -60;
inline constexpr int kTraceLink = -30;  // of a run that goes from one executor into another

// Whether a trace never pays: a round of its loop costs more than the original instructions. A trace without a loop may
// cost as much as the side exit that it replaces, and a call twice that, until runs are weighed.
[[nodiscard]] bool never_pays(const replay::Executor& executor, bool is_call);

}  // namespace tagalong::runtime
