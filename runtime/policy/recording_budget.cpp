#include "runtime/policy/recording_budget.h"

#include <algorithm>
#include <ctime>

namespace tagalong::runtime {

// The clock is a system call, so only every sixteenth question reads it.
bool RecordingBudget::may_spend_now(int share) {
  constexpr int kPatience = 16;
  if (asked_++ % kPatience != 0) {
    return false;
  }
  timespec now{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    constexpr std::int64_t kWhole = 1000;
    granted_ = std::max(granted_, (now.tv_sec * kSecond + now.tv_nsec) / kWhole * share);
  }
  return balance_ + granted_ >= 0;
}

}  // namespace tagalong::runtime
