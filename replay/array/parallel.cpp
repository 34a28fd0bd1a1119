#include "replay/array/parallel.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <exception>
#include <thread>

namespace tagalong::array {

long worth_part = kWorthPart;

namespace {

constexpr unsigned kMostThreads = 64;

unsigned option = 0;
bool is_alone = false;  // the child of a fork: the threads have stayed behind

unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                      : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

void set_threads(unsigned count) { option = count; }
unsigned threads_option() { return option; }

unsigned thread_count() {
  static const unsigned available = [] {
    const bool is_told = pthread_atfork(nullptr, nullptr, [] { is_alone = true; }) == 0;
    return is_told ? processors() : 1;
  }();
  return is_alone ? 1 : std::min(option == 0 ? available : option, kMostThreads);
}

bool run_parts(std::size_t count, const std::function<void(std::size_t)>& part) {
  namespace tbb = oneapi::tbb;
  try {
    // Those who help round, and flush to zero, as this thread does. While it waits it takes nobody else's work.
    tbb::task_group_context context(tbb::task_group_context::isolated,
                                    tbb::task_group_context::default_traits | tbb::task_group_context::fp_settings);
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(std::size_t{0}, count, std::size_t{1}, part, tbb::simple_partitioner(), context); });
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace tagalong::array
