// Postponing signals and other threads. When an inlined call returns to the interpreter, the interpreter polls the eval
// breaker, which eager execution does not do there. So the request is removed before the poll, and the caller's next
// hook sets it again.
//
//   postpone_requests(thread);               // the call has returned
//   const bool was_one = resume_postponed(thread);   // at the next hook
#pragma once

#include <Python.h>

namespace tagalong::recorder {

void postpone_requests(PyThreadState* thread);
// True if a request had been postponed.
bool resume_postponed(PyThreadState* thread);

}  // namespace tagalong::recorder
