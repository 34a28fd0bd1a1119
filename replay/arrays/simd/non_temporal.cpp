#include "replay/arrays/simd/non_temporal.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace tagalong::array {
namespace {

// The size of the last-level cache, or a default where the system does not report it.
long cache_bytes() noexcept {
  constexpr long kDefault = 32L << 20;
  constexpr long kMost = 64L << 20;  // other processes use a large shared cache, too
  const long known = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return known <= 0 ? kDefault : std::min(known, kMost);
}

}  // namespace

long min_non_temporal = cache_bytes();
long min_prefetch = 1L << 20;

bool is_resident(const char* data, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto middle = (reinterpret_cast<std::uintptr_t>(data) + bytes / 2) / page * page;
  unsigned char is_there = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the beginning of a page
  return mincore(reinterpret_cast<void*>(middle), 1, &is_there) == 0 && (is_there & 1U) != 0;
}

}  // namespace tagalong::array
