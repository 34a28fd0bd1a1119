// How often something happened, for tests. Nothing is counted before somebody asks for the first time: threads would
// take the line of memory from each other.
//
//   extern Tally own_sums;
//   own_sums.add();                  // a load, until a test has asked
//   const auto before = own_sums.count();
#pragma once

#include <atomic>
#include <cstdint>

namespace tagalong::array {

class Tally {
 public:
  void add(std::uint64_t more = 1) {
    if (is_asked_.load(std::memory_order_relaxed)) [[unlikely]] {
      count_.fetch_add(more, std::memory_order_relaxed);
    }
  }
  // From now on all is counted.
  std::uint64_t count() {
    is_asked_.store(true, std::memory_order_relaxed);
    return count_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> is_asked_ = false;
  std::atomic<std::uint64_t> count_ = 0;
};

// Of a loop of ours: what it has computed itself, and what it has left to the usual way.
struct LoopTally {
  Tally computed;
  Tally left;
};

}  // namespace tagalong::array
