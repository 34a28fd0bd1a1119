// What the interpreter does between instructions on request: it runs signal handlers and pending calls, raises
// exceptions sent by other threads, and releases the GIL. Bytecode polls the "eval breaker" after calls and jumps back.
// Code that runs instead of bytecode has to poll as well.
//
//   const RequestFlag requested(thread);
//   if (requested && !poll_requests()) { ... the exception is set ... }
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// The interpreter's eval breaker.
class RequestFlag {
 public:
  explicit RequestFlag(PyThreadState* thread);
  [[nodiscard]] const std::uint8_t* address() const { return flag_; }
  explicit operator bool() const { return __atomic_load_n(flag_, __ATOMIC_RELAXED) != 0; }

 private:
  const std::uint8_t* flag_;
};

// Whether more than the GIL is requested: a signal, a pending call or an exception from another thread. Programs can
// notice at which instruction such requests are handled.
bool is_anything_to_run(PyThreadState* thread);

// Handles all requests, as if the current frame had just finished an instruction. False with an exception set.
bool poll_requests();

// Arithmetic of large ints checks for signals by itself. Within the scope it finds none: they wait until the program's
// next poll. For code that has no state in which a handler could run, runs no user code, and does not take long.
class SignalsWait {
 public:
  SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait();

 private:
  unsigned long main_thread_;
};

// For code that is called between two instructions. After the call the interpreter would poll, at a point where the
// program as written does not poll. Returns the object that the call has to return: if there are requests, they are
// postponed until this object dies, which happens right after the call. Null with an exception set.
PyObject* result_without_poll(PyThreadState* thread);

// The same for calls whose result has another meaning: postpone_requests() is called before the interpreter polls, and
// resume_requests() afterwards in the same thread. The first returns true if there was a request to postpone.
bool postpone_requests(PyThreadState* thread);
void resume_requests(PyThreadState* thread);

}  // namespace tagalong::cpython
