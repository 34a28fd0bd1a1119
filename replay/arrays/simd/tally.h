// Event counters for tests. A counter stays off until count() is first called, because threads that increment it would
// contend for its cache line.
//
//   extern Tally own_sums;
//   own_sums.add();                  // only a load while the counter is off
//   const auto before = own_sums.count();
#pragma once

#include <atomic>
#include <cstdint>

namespace tagalong::array {

class Tally {
 public:
  void add(std::uint64_t more = 1) {
    if (is_on_.load(std::memory_order_relaxed)) [[unlikely]] {
      count_.fetch_add(more, std::memory_order_relaxed);
    }
  }
  // Turns the counter on.
  std::uint64_t count() {
    is_on_.store(true, std::memory_order_relaxed);
    return count_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> is_on_ = false;
  std::atomic<std::uint64_t> count_ = 0;
};

// For a loop that replaces another: what it has computed, and what it has left to the original path.
struct LoopTally {
  Tally computed;
  Tally left;
};

}  // namespace tagalong::array
