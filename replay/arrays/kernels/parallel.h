// Runs the parts of a large fusion group on several threads, with oneTBB. Results do not depend on the number of
// threads: each part has its own memory, floating point flags and sums, and the parts depend on the sizes only.
//
//   set_threads(4);
//   if (const unsigned threads = thread_count(); threads > 1) run_parts(count, [&](std::size_t part) { ... });
#pragma once

#include <cstddef>
#include <functional>

namespace tagalong::array {

// Sets the number of threads; 0: the number of processors that this process may use.
void set_threads(unsigned count);
[[nodiscard]] unsigned threads_option();

// The least cost (costs.h) of a part that pays for waking a thread. Splitting costs time even where all other
// processors are busy. Tests set it to less.
inline constexpr long kMinPart = 262144;
extern long min_part;

// Initialises oneTBB without starting a thread, because its search for libraries would delay the first fusion group.
void prepare_threads();

// The number of threads that may compute now. 1 in a forked child whose parent had threads.
[[nodiscard]] unsigned thread_count();

// Calls `part` with 0 ... count - 1, in any order and concurrently, and waits. `part` must not need the GIL and must
// not throw. False: an error; some parts may have run.
[[nodiscard]] bool run_parts(std::size_t count, const std::function<void(std::size_t)>& part);

}  // namespace tagalong::array
