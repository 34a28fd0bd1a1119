// What a replay saves or costs against the original instructions, estimated from what its graph does: figures that
// `scripts/bench replays` and `chains` show, of a machine of our days. They need not be exact. A function is given up
// only when its runs together were worth less than nothing, and then it is no slower than it was written.
#pragma once

#include "replay/executor.h"

namespace tagalong::runtime {

// In ns, of a run of the graph to its end.
[[nodiscard]] int worth_of(const replay::Graph& graph);

inline constexpr int kMissWorth = -60;
inline constexpr int kExitWorth = -300;     // the rest of the call is no faster, and the way there is long
inline constexpr int kLandingWorth = -150;  // a trace that ends at a yield, or goes on as written

// In ns, of one that ended in this way.
[[nodiscard]] inline int worth_of_run(replay::Outcome outcome, bool is_complete, int worth) {
  if (outcome != replay::Outcome::kLeft || worth > 0) {
    return worth;
  }
  return is_complete ? worth + kLandingWorth : kExitWorth;
}

}  // namespace tagalong::runtime
