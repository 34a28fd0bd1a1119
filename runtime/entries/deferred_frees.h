// Deferred frees. Freeing an executor or code may run destructors of the program, so it waits until the next call that
// asks for a graph, where they do no harm. Used under the GIL.
#pragma once

#include <memory>

#include "replay/executor/executor.h"
#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// An executor that is running is freed after its run.
void defer_free(std::shared_ptr<replay::Executor> executor);
// May be called while an object is being destroyed.
void defer_free(Ref object);

namespace detail {
inline constinit bool has_deferred_frees = false;
void free_deferred();
}  // namespace detail

inline void free_deferred() {
  if (detail::has_deferred_frees) [[unlikely]] {
    detail::free_deferred();
  }
}
// Only the objects; executors wait.
void free_deferred_objects();

}  // namespace tagalong::runtime
