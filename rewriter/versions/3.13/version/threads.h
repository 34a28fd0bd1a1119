// Threads and requests of CPython 3.13: who holds the GIL, and what the interpreter is asked to do between
// instructions.
#pragma once

#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include <internal/pycore_ceval.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_pymem.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

#include <cstdint>
#include <utility>

namespace tagalong::version {

// The upper bits are the version of the events that tools of sys.monitoring have asked for.
inline std::uintptr_t* eval_breaker(PyThreadState* thread) { return &thread->eval_breaker; }
// A byte that is 0 while nothing is requested.
inline const std::uint8_t* request_byte(PyThreadState* thread) {
  return reinterpret_cast<const std::uint8_t*>(eval_breaker(thread));
}
inline thread_local std::uintptr_t t_withdrawn = 0;
// Whether there was a request. Until restore_requests() the interpreter does not see it.
inline bool withdraw_requests(PyThreadState* thread) {
  constexpr std::uintptr_t kRequests = _PY_EVAL_EVENTS_MASK;
  const std::uintptr_t before = __atomic_fetch_and(eval_breaker(thread), ~kRequests, __ATOMIC_RELAXED);
  t_withdrawn |= before & kRequests;
  return (before & kRequests) != 0;
}
inline void restore_requests(PyThreadState* thread) {
  __atomic_fetch_or(eval_breaker(thread), std::exchange(t_withdrawn, 0), __ATOMIC_RELAXED);
}

inline bool is_signal_pending() {
  return (__atomic_load_n(eval_breaker(_PyRuntime.main_tstate), __ATOMIC_RELAXED) & _PY_SIGNALS_PENDING_BIT) != 0;
}
// A signal, a pending call or an exception from another thread.
inline bool is_anything_to_run(PyThreadState* thread) {
  constexpr std::uintptr_t kRunning = _PY_SIGNALS_PENDING_BIT | _PY_CALLS_TO_DO_BIT | _PY_ASYNC_EXCEPTION_BIT;
  return (__atomic_load_n(eval_breaker(thread), __ATOMIC_RELAXED) & kRunning) != 0;
}
inline const int* trace_malloc() { return &_PyRuntime.tracemalloc.config.tracing; }

inline bool is_finalizing() { return Py_IsFinalizing() != 0; }

}  // namespace tagalong::version
