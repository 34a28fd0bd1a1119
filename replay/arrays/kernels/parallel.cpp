#include "replay/arrays/kernels/parallel.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

namespace tagalong::array {

long min_part = kMinPart;

namespace {

constexpr unsigned kMostThreads = 64;

enum class Threads : std::uint8_t { kNone, kStarted, kReady };
std::atomic<Threads> threads = Threads::kNone;

unsigned option = 0;
bool is_alone = false;  // this process is a forked child, without its parent's threads

unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                      : std::max(1U, std::thread::hardware_concurrency());
}

template <class Part>
void share(std::size_t begin, std::size_t end, const Part& part) {
  namespace tbb = oneapi::tbb;
  // Worker threads inherit this thread's rounding and flush-to-zero modes. Isolation: while this thread waits, it takes
  // no unrelated tasks.
  tbb::task_group_context context(tbb::task_group_context::isolated,
                                  tbb::task_group_context::default_traits | tbb::task_group_context::fp_settings);
  tbb::this_task_arena::isolate(
      [&] { tbb::parallel_for(begin, end, std::size_t{1}, part, tbb::simple_partitioner(), context); });
}

// Starts oneTBB's threads from a separate thread, by giving work to all, because the start takes too long for the first
// caller to wait.
void start_threads() {
  Threads none = Threads::kNone;
  if (!threads.compare_exchange_strong(none, Threads::kStarted)) {
    return;
  }
  static auto* const starter = new std::thread([] {
    try {
      share(0, std::size_t{thread_count()} * 2, [](std::size_t /*number*/) { sched_yield(); });
      threads.store(Threads::kReady, std::memory_order_release);
    } catch (const std::exception&) {
      return;  // then the process never uses threads
    }
  });
  // Runs before oneTBB is unloaded, because it is registered later. A forked child does not have the starter thread.
  static_cast<void>(std::atexit([] {
    if (!is_alone) {
      starter->join();
    }
  }));
}

bool are_threads_ready() { return threads.load(std::memory_order_acquire) == Threads::kReady; }

using Clock = std::chrono::steady_clock;

// Starting the threads slows down page faults meanwhile. So the threads are started only when the work done without
// them, together with the current work, is long enough to repay that.
bool is_worth_starting(Clock::duration taken, std::size_t left) {
  static std::atomic<Clock::rep> alone = 0;
  constexpr auto kWorthStarting = std::chrono::duration_cast<Clock::duration>(std::chrono::milliseconds(2)).count();
  const Clock::rep before = alone.fetch_add(taken.count(), std::memory_order_relaxed);
  return before + taken.count() * static_cast<Clock::rep>(left + 1) >= kWorthStarting * min_part / kMinPart;
}

}  // namespace

void set_threads(unsigned count) { option = count; }
unsigned threads_option() { return option; }

unsigned thread_count() {
  static const unsigned available = [] {
    const bool is_told =
        pthread_atfork(nullptr, nullptr, [] { is_alone = is_alone || threads != Threads::kNone; }) == 0;
    return is_told ? processors() : 1;
  }();
  return is_alone ? 1 : std::min(option == 0 ? available : option, kMostThreads);
}

void prepare_threads() {
  if (thread_count() == 1) {
    return;
  }
  try {
    oneapi::tbb::task_arena(1).execute([] { share(0, 2, [](std::size_t /*number*/) {}); });
  } catch (const std::exception&) {
    return;  // run_parts() tries again
  }
}

bool run_parts(std::size_t count, const std::function<void(std::size_t)>& part) {
  try {
    std::size_t next = 0;
    for (; next < count && !are_threads_ready(); ++next) {
      const Clock::time_point begin = Clock::now();
      part(next);
      if (is_worth_starting(Clock::now() - begin, count - next - 1)) {
        start_threads();
      }
    }
    if (next < count) {
      share(next, count, part);
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace tagalong::array
