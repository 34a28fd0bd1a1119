#include "rewriter/cpython/objects/collector.h"

#include <utility>

// CPython's own headers do not know C++'s <stdatomic.h>; the compiler's operations have the same layout.
#undef HAVE_STD_ATOMIC
#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

namespace tagalong::cpython {

bool may_collect(PyThreadState* thread, int objects) {
  const auto& collector = thread->interp->gc;
  const auto& young = collector.generations[0];
  return collector.enabled != 0 && young.threshold != 0 && young.count + objects > young.threshold;
}

bool set_collecting(PyThreadState* thread, bool collects) {
  return std::exchange(thread->interp->gc.enabled, collects ? 1 : 0) != 0;
}

}  // namespace tagalong::cpython
