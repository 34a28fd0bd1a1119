// Parts of a large fusion group on several processors, by oneTBB. Which part is computed by whom shows in nothing: each
// part has memory, floating point flags and sums of its own, and the parts are cut by the sizes alone.
//
//   set_threads(4);
//   if (const unsigned threads = thread_count(); threads > 1) run_parts(count, [&](std::size_t part) { ... });
#pragma once

#include <cstddef>
#include <functional>

namespace tagalong::array {

// 0: as many as there are processors for this process.
void set_threads(unsigned count);
[[nodiscard]] unsigned threads_option();

// What a part has to cost (costs.h: 16 us) to be worth somebody's waking up; less for tests. Cutting takes one to three
// microseconds. That is lost where all other processors are busy, which was the case where this was measured: 3 to 6 %
// of the smallest fusion groups. Where one is free, the break-even has been seen only in passing, from about 13 us on.
inline constexpr long kMinPart = 262144;
extern long min_part;

// oneTBB looks for other libraries before it has threads, which need not wait for the first fusion group. No thread is
// started.
void prepare_threads();

// How many may compute now. A child of a fork that has left threads behind has nobody else: 1.
[[nodiscard]] unsigned thread_count();

// Calls `part` with 0 ... count - 1, in any order and at the same time, and waits. It must not need the GIL, nor throw.
// False: that was not possible, nothing or something has been called.
[[nodiscard]] bool run_parts(std::size_t count, const std::function<void(std::size_t)>& part);

}  // namespace tagalong::array
