// The recording budget: what recordings may cost a program that is traced as a whole. It has an allowance, a share of
// the processor time of the process (limit `share`, per mille), and what replays have saved. When it is used up, calls
// run the original instructions, so recordings cannot make any program much slower. Costs are estimates, as in
// cost_model.h, so that the machine's load does not change what is recorded.
//
// Loops and functions traced by name are recorded anyway: loops are few and pay most. They do not draw on the budget,
// or a program with many loops would leave nothing for its functions. Used under the GIL.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagalong::runtime {

class RecordingBudget {
 public:
  // True: a recording may begin.
  [[nodiscard]] bool may_spend(int share) { return balance_ + granted_ >= 0 || may_spend_now(share); }
  void recorded(std::size_t nodes) {
    constexpr std::int64_t kRecording = 150'000;  // ns: recording code, hooks, passes, cold caches
    constexpr std::int64_t kNode = 2'000;
    balance_ -= kRecording + kNode * static_cast<std::int64_t>(nodes);
    asked_ = 0;
  }
  // In ns, of a run; negative if it was slower than the original instructions.
  void ran(std::int64_t gain) { balance_ += gain; }
  // The processor time of the child starts at zero.
  void after_fork() {
    balance_ += granted_;
    granted_ = 0;
  }

 private:
  bool may_spend_now(int share);

  static constexpr std::int64_t kAllowance = 2'000'000;
  std::int64_t balance_ = kAllowance;
  std::int64_t granted_ = 0;  // by the processor time at the last question
  unsigned asked_ = 0;        // refusals since the last recording
};

namespace detail {
inline constinit RecordingBudget recording_budget;
}
inline RecordingBudget& recording_budget() { return detail::recording_budget; }

}  // namespace tagalong::runtime
