#include "rewriter/cpython/requests.h"

// CPython's own headers do not know C++'s <stdatomic.h>; the compiler's operations have the same layout.
#undef HAVE_STD_ATOMIC
#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include <internal/pycore_interp.h>
#include <internal/pycore_pymem.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE
#include <array>
#include <utility>

#include "rewriter/base/once.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/thunks.h"

namespace tagalong::cpython {
namespace {

// A jump back in a hidden frame: the interpreter itself runs the handlers, in its own order.
PyObject* make_poller() {
  const CodeRef code = make_thunk(
      1, {{op::kLOAD_FAST, 0}, {op::kJUMP_FORWARD, 1}, {op::kRETURN_VALUE, 0}, {op::kJUMP_BACKWARD, 2}}, nullptr);
  const Ref globals = Ref::steal(PyDict_New());
  return code && globals ? PyFunction_New(reinterpret_cast<PyObject*>(code.get()), globals.get()) : nullptr;
}

}  // namespace

std::uintptr_t* const kThread = &_PyRuntime.gilstate.tstate_current._value;
const int* const kTraceMalloc = &_Py_tracemalloc_config.tracing;

RequestFlag::RequestFlag(PyThreadState* thread) : flag_(&thread->interp->ceval.eval_breaker._value) {}

namespace {

int* flag_of(PyThreadState* thread) { return &thread->interp->ceval.eval_breaker._value; }

void free_postponement(PyObject* self) {
  resume_requests(PyThreadState_Get());
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* postponement_type() {
  static PyTypeObject* type = nullptr;
  return once(type, [] {
    static std::array<PyType_Slot, 2> slots = {{
        {Py_tp_dealloc, reinterpret_cast<void*>(free_postponement)},
        {0, nullptr},
    }};
    static PyType_Spec spec = {"tagalong._core.Postponement", sizeof(PyObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
}

}  // namespace

bool postpone_requests(PyThreadState* thread) { return __atomic_exchange_n(flag_of(thread), 0, __ATOMIC_RELAXED) != 0; }

// If a request has come and been handled in between, the interpreter polls once more than necessary.
void resume_requests(PyThreadState* thread) { __atomic_store_n(flag_of(thread), 1, __ATOMIC_RELAXED); }

PyObject* result_without_poll(PyThreadState* thread) {
  if (__atomic_load_n(flag_of(thread), __ATOMIC_RELAXED) == 0) {
    Py_RETURN_NONE;
  }
  PyTypeObject* type = postponement_type();
  PyObject* result = type == nullptr ? nullptr : type->tp_alloc(type, 0);
  if (result != nullptr) {
    postpone_requests(thread);
  }
  return result;
}

// Handlers run in the main thread only, so no thread is the main thread during this scope.
SignalsWait::SignalsWait() : main_thread_(std::exchange(_PyRuntime.main_thread, 0UL)) {}

SignalsWait::~SignalsWait() {
  _PyRuntime.main_thread = main_thread_;
  // A signal that came meanwhile has not set the eval breaker.
  if (__atomic_load_n(&_PyRuntime.ceval.signals_pending._value, __ATOMIC_RELAXED) != 0) [[unlikely]] {
    resume_requests(PyThreadState_Get());
  }
}

bool is_anything_to_run(PyThreadState* thread) {
  const auto is_set = [](const _Py_atomic_int& flag) { return __atomic_load_n(&flag._value, __ATOMIC_RELAXED) != 0; };
  const auto& pending = thread->interp->ceval.pending;
  return is_set(_PyRuntime.ceval.signals_pending) || is_set(pending.calls_to_do) || pending.async_exc != 0;
}

bool poll_requests() {
  static PyObject* poller = nullptr;
  if (once(poller, make_poller) == nullptr) {
    return false;
  }
  PyThreadState* thread = thread_state();
  const Frame* program = current_frame(thread);
  auto* function = reinterpret_cast<PyFunctionObject*>(poller);
  Frame* frame = push_frame(thread, function, reinterpret_cast<PyCodeObject*>(function->func_code));
  if (frame == nullptr) {
    return false;
  }
  // A pending call asks for the globals of the current frame, for example when it imports a module.
  set_globals(frame, program);
  locals_of(frame)[0] = Py_NewRef(Py_None);
  const Ref done = Ref::steal(start_frame(thread, frame));
  pop_frame(thread, frame);
  return static_cast<bool>(done);
}

}  // namespace tagalong::cpython
