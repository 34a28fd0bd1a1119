#include "rewriter/cpython/objects/collector.h"

#include <utility>

#include "version/threads.h"

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
