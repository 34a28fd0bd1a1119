// When to use non-temporal stores and software prefetch. Results that do not fit the last-level cache are written past
// it: a line that is written as a whole need not be read first, and it would be evicted before its next use. Memory
// without pages is written with normal stores, because the kernel clears new pages through the caches.
//
//   if (bytes >= static_cast<std::size_t>(min_non_temporal) && is_resident(data, bytes)) ... finish_non_temporal();
#pragma once

#include <cstddef>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tagalong::array {

// Bytes of a fusion group's results from which on stores are non-temporal. Tests set it to less.
extern long min_non_temporal;
// Bytes of a row from which on loops prefetch.
extern long min_prefetch;

// Distance from a load to the prefetch, in bytes.
inline constexpr int kPrefetchDistance = 2048;

// Whether this memory has pages; checks the page in its middle only.
[[nodiscard]] bool is_resident(const char* data, std::size_t bytes);

// The fence behind non-temporal stores: other threads see them afterwards.
inline void finish_non_temporal() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

}  // namespace tagalong::array
