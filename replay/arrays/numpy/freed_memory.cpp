#include "replay/arrays/numpy/freed_memory.h"

#include <cstdlib>

#include "replay/arrays/numpy/numpy_abi.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tagalong::array {
namespace {

bool is_enabled = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): under the GIL

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): under the GIL, as os.environ
  return value != nullptr && *value != '\0';
}

void set_thresholds() {
#if defined(__GLIBC__)
  constexpr int kMmapThreshold = 32 << 20;  // DEFAULT_MMAP_THRESHOLD_MAX: smaller blocks are not mapped
  constexpr int kTrimThreshold = 2 * kMmapThreshold;
  if (!is_set("MALLOC_MMAP_THRESHOLD_") && !is_set("MALLOC_TRIM_THRESHOLD_") && !is_set("MALLOC_TOP_PAD_") &&
      !is_set("GLIBC_TUNABLES")) {
    mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
    mallopt(M_TRIM_THRESHOLD, kTrimThreshold);
  }
#endif
}

}  // namespace

void keep_freed_memory() {
  is_enabled = true;
  if (met_numpy() != nullptr) {
    set_thresholds();
  }
}

void detail::keep_freed_memory_if_enabled() {
  if (is_enabled) {
    set_thresholds();
  }
}

}  // namespace tagalong::array
