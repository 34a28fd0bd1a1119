// Results that are larger than the caches, or half as large again with what they are computed from, are written past
// them: a line of memory that is written as a whole need not be read before, and none of it would be in a cache when
// somebody reads it. That is a fourth to a third of what a chain of operations moves. New memory is written as usual:
// the system has just cleared it, in the caches.
//
//   if (bytes >= static_cast<std::size_t>(min_non_temporal) && is_resident(data, bytes)) ... finish_non_temporal();
#pragma once

#include <cstddef>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tagalong::array {

// Bytes of a fusion group's results from which on they are; less for tests.
extern long min_non_temporal;
// Bytes of a row from which on memory is asked for ahead.
extern long min_prefetch;

// How far ahead of where it is read memory is asked for, in bytes, where that pays.
inline constexpr int kPrefetchDistance = 2048;

// Whether there are pages behind this memory, as far as its middle can tell.
[[nodiscard]] bool is_resident(const char* data, std::size_t bytes);

// So that other threads see what this one has written so.
inline void finish_non_temporal() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

}  // namespace tagalong::array
