// What the interpreter does between instructions when somebody asks for it: signal handlers, pending calls, exceptions
// sent by other threads, handing over the GIL. Bytecode looks after calls and jumps back; so does whoever runs in place
// of bytecode.
//
//   const RequestFlag requested(thread);
//   if (requested && !poll_requests()) { ... the exception is set ... }
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// The interpreter's "eval breaker".
class RequestFlag {
 public:
  explicit RequestFlag(PyThreadState* thread);
  [[nodiscard]] const int* address() const { return flag_; }
  explicit operator bool() const { return __atomic_load_n(flag_, __ATOMIC_RELAXED) != 0; }

 private:
  const int* flag_;
};

// Whether what is requested is more than the GIL: a signal, a pending call or an exception from another thread. It
// matters to a program at which instruction these are served.
bool is_anything_to_run(PyThreadState* thread);

// Serves what is requested, as if the current frame had just finished an instruction. False with an exception set.
bool poll_requests();

// Arithmetic of long ints looks for signals by itself. As long as this lives it finds none: they wait for the next
// place where the program would be interrupted. For code that knows no state to run a handler in, runs none of the
// program's own code, and does not take long.
class SignalsWait {
 public:
  SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait();

 private:
  unsigned long main_thread_;
};

// For code that runs between two instructions by means of a call, behind which the interpreter would serve where it
// never does: the result that such a call has to give. What is requested waits until that is thrown away, which is the
// next thing that happens to it. Null with an exception set.
PyObject* result_without_poll(PyThreadState* thread);

// The same where the result is somebody else's: in front of the interpreter's look, and behind it in the same thread.
// True if there was something to postpone.
bool postpone_requests(PyThreadState* thread);
void resume_requests(PyThreadState* thread);

}  // namespace tagalong::cpython
