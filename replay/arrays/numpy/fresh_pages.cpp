#include "replay/arrays/numpy/fresh_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace tagalong::array {
namespace {

#ifdef MADV_POPULATE_WRITE
constexpr int kRequest = MADV_POPULATE_WRITE;
#else
constexpr int kRequest = 23;
#endif
constexpr std::size_t kMinBytes = 64U << 10U;
constexpr std::size_t kMaxBytes = 4U << 20U;

}  // namespace

int advise_pages(void* memory, std::size_t size, int advice) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) / page * page;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): whole pages of the block
  return madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

void make_pages(void* memory, std::size_t size) {
  static std::atomic<bool> is_supported = true;  // whether the kernel knows the request
  if (size < kMinBytes || size >= kMaxBytes || !is_supported.load(std::memory_order_relaxed)) {
    return;
  }
  const int error = errno;
  if (advise_pages(memory, size, kRequest) != 0 && errno == EINVAL) {
    is_supported.store(false, std::memory_order_relaxed);
  }
  errno = error;
}

}  // namespace tagalong::array
