// What a replay saves or costs against the original instructions, estimated from what its graph does: figures that
// `scripts/bench` shows, of a machine of our days. They need not be exact. A function is given up only when its runs
// together were worth less than nothing, and then it is no slower than it was written.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/executor/executor.h"

namespace tagalong::runtime {

// `largest_array`: elements, of those that were there when it was recorded.
[[nodiscard]] replay::Gain gain_of(const replay::Executor& executor, std::int64_t largest_array);
// By step: what of that a run has not earned that leaves there. The frames that it makes cost time in addition.
[[nodiscard]] std::vector<std::int32_t> forgone_by(const replay::Executor& executor, std::int64_t largest_array);
// In ns, of a run that ended so; of its last part, if it has come there from another executor.
[[nodiscard]] int gain_of(const replay::Run& run, replay::Outcome outcome, const replay::Gain& gain,
                          bool is_linked = false);

inline constexpr int kMissGain = -60;
inline constexpr int kTraceLink =
    -30;  // part of the former: what it costs that it has come there from another executor

// Whether a trace is worth nothing from the start: a round of its loop costs more than the original instructions. What
// stands for a way out of other traces may cost what leaving them does, and a call twice that: its runs will tell.
[[nodiscard]] bool is_in_vain(const replay::Executor& executor, bool is_call);

}  // namespace tagalong::runtime
