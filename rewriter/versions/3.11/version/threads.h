// Threads and requests of CPython 3.11: who holds the GIL, and what the interpreter is asked to do between
// instructions.
#pragma once

// CPython's own headers do not know C++'s <stdatomic.h>; the compiler's operations have the same layout.
#undef HAVE_STD_ATOMIC
#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include <internal/pycore_interp.h>
#include <internal/pycore_pymem.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

#include <cstdint>

namespace tagalong::version {

inline int* eval_breaker(PyThreadState* thread) { return &thread->interp->ceval.eval_breaker._value; }
// A byte that is 0 while nothing is requested.
inline const std::uint8_t* request_byte(PyThreadState* thread) {
  return reinterpret_cast<const std::uint8_t*>(eval_breaker(thread));
}
// Whether there was a request. Until restore_requests() the interpreter does not see it.
inline bool withdraw_requests(PyThreadState* thread) {
  return __atomic_exchange_n(eval_breaker(thread), 0, __ATOMIC_RELAXED) != 0;
}
// If a request has come and been handled in between, the interpreter polls once more than necessary.
inline void restore_requests(PyThreadState* thread) { __atomic_store_n(eval_breaker(thread), 1, __ATOMIC_RELAXED); }

inline bool is_signal_pending() {
  return __atomic_load_n(&_PyRuntime.ceval.signals_pending._value, __ATOMIC_RELAXED) != 0;
}
// A signal, a pending call or an exception from another thread.
inline bool is_anything_to_run(PyThreadState* thread) {
  const auto& pending = thread->interp->ceval.pending;
  return is_signal_pending() || __atomic_load_n(&pending.calls_to_do._value, __ATOMIC_RELAXED) != 0 ||
         pending.async_exc != 0;
}
inline const int* trace_malloc() { return &_Py_tracemalloc_config.tracing; }

inline bool is_finalizing() { return _Py_IsFinalizing() != 0; }

}  // namespace tagalong::version
