// What recordings may cost a program that is traced as a whole: an allowance, a share of the processor's time that the
// process has taken (limit `share`, per mille), and what its replays have saved. A first call that would be recorded
// beyond that runs as written; so no program can become much slower by being recorded, whatever it is like. The costs
// are estimates, as those of `cost_model.h`, so that it is the program and not the machine's load which decides.
//
// Loops are recorded anyway: they are few, and of all code they pay most. So are functions that are traced by name.
// Neither draws on what the others have, who would never be recorded in a program of many loops. Used under the GIL.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::runtime {

class RecordingBudget {
 public:
  // True: a recording may begin.
  [[nodiscard]] bool may_spend(int share) { return balance_ + granted_ >= 0 || may_spend_now(share); }
  void recorded(std::size_t nodes) {
    constexpr std::int64_t kRecording = 150'000;  // ns: recording code, hooks, passes, code that is not in cache
    constexpr std::int64_t kNode = 2'000;
    balance_ -= kRecording + kNode * static_cast<std::int64_t>(nodes);
    asked_ = 0;
  }
  // In ns, of a run; negative if it was slower than the original instructions.
  void ran(std::int64_t gain) { balance_ += gain; }
  // The child's clock begins anew.
  void after_fork() {
    balance_ += granted_;
    granted_ = 0;
  }

 private:
  bool may_spend_now(int share);

  static constexpr std::int64_t kAllowance = 2'000'000;
  std::int64_t balance_ = kAllowance;
  std::int64_t granted_ = 0;  // by the time that the process had taken when it was last asked
  unsigned asked_ = 0;        // in vain, since the last recording
};

namespace detail {
inline constinit RecordingBudget recording_budget;
}
inline RecordingBudget& recording_budget() { return detail::recording_budget; }

}  // namespace tagalong::runtime
