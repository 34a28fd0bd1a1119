#include "rewriter/cpython/requests.h"

#include <array>
#include <utility>

#include "rewriter/base/once.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/thunks.h"
#include "version/threads.h"

namespace tagalong::cpython {
namespace {

// A jump back in a hidden frame: the interpreter itself runs the handlers, in its own order.
PyObject* make_poller() {
  const int to_return = 2 + rewriter::info(op::kJUMP_BACKWARD).caches;
  const CodeRef code = make_thunk(
      1, {{op::kLOAD_FAST, 0}, {op::kJUMP_FORWARD, 1}, {op::kRETURN_VALUE, 0}, {op::kJUMP_BACKWARD, to_return}},
      nullptr);
  const Ref globals = Ref::steal(PyDict_New());
  return code && globals ? PyFunction_New(reinterpret_cast<PyObject*>(code.get()), globals.get()) : nullptr;
}

}  // namespace

const int* const kTraceMalloc = version::trace_malloc();

RequestFlag::RequestFlag(PyThreadState* thread) : flag_(version::request_byte(thread)) {}

namespace {

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

bool postpone_requests(PyThreadState* thread) { return version::withdraw_requests(thread); }

void resume_requests(PyThreadState* thread) { version::restore_requests(thread); }

PyObject* result_without_poll(PyThreadState* thread) {
  if (!RequestFlag(thread)) {
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
  if (version::is_signal_pending()) [[unlikely]] {
    resume_requests(PyThreadState_Get());
  }
}

bool is_anything_to_run(PyThreadState* thread) { return version::is_anything_to_run(thread); }

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
  return static_cast<bool>(done);
}

}  // namespace tagalong::cpython
