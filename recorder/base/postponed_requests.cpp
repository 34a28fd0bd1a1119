#include "recorder/base/postponed_requests.h"

#include "rewriter/cpython/requests.h"

namespace tagalong::recorder {
namespace {

bool has_postponed = false;  // under the GIL, which is not released between the two calls

}  // namespace

void postpone_requests(PyThreadState* thread) { has_postponed = cpython::postpone_requests(thread) || has_postponed; }

bool resume_postponed(PyThreadState* thread) {
  if (!has_postponed) {
    return false;
  }
  has_postponed = false;
  cpython::resume_requests(thread);
  return true;
}

}  // namespace tagalong::recorder
