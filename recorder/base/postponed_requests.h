// Signals and other threads that must wait. An inlined call returns to the interpreter, which would look for requests
// there; eager execution does not. So the request is taken away, and the caller's next hook gives it back.
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
