#include "replay/arrays/numpy/freed_memory.h"

#include <cstdlib>

#include "replay/arrays/numpy/numpy_abi.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tagalong::array {
namespace {

bool is_wanted = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): under the GIL

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): under the GIL, as os.environ
  return value != nullptr && *value != '\0';
}

void keep() {
#if defined(__GLIBC__)
  constexpr int kMostMapped = 32 << 20;  // DEFAULT_MMAP_THRESHOLD_MAX: what comes and goes is no mapping below that
  constexpr int kMostOnTop = 2 * kMostMapped;
  if (!is_set("MALLOC_MMAP_THRESHOLD_") && !is_set("MALLOC_TRIM_THRESHOLD_") && !is_set("MALLOC_TOP_PAD_") &&
      !is_set("GLIBC_TUNABLES")) {
    mallopt(M_MMAP_THRESHOLD, kMostMapped);
    mallopt(M_TRIM_THRESHOLD, kMostOnTop);
  }
#endif
}

}  // namespace

void keep_freed_memory() {
  is_wanted = true;
  if (met_numpy() != nullptr) {
    keep();
  }
}

void detail::keep_freed_memory_if_wanted() {
  if (is_wanted) {
    keep();
  }
}

}  // namespace tagalong::array
