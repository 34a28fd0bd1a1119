#include "rewriter/interp/requests.h"

// CPython's own headers do not know C++'s <stdatomic.h>; the compiler's operations have the same layout.
#undef HAVE_STD_ATOMIC
#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include <internal/pycore_interp.h>
#include <internal/pycore_pymem.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include <array>

#include "rewriter/interp/thunks.h"

namespace tagalong::interp {
namespace {

// A jump back in a frame that nobody sees: the interpreter itself serves, in its own order.
PyObject* make_server() {
  const CodeRef code =
      make_thunk(1, {{LOAD_FAST, 0}, {JUMP_FORWARD, 1}, {RETURN_VALUE, 0}, {JUMP_BACKWARD, 2}}, nullptr);
  const Ref globals = Ref::steal(PyDict_New());
  return code && globals ? PyFunction_New(reinterpret_cast<PyObject*>(code.get()), globals.get()) : nullptr;
}

}  // namespace

const int* const kTraceMalloc = &_Py_tracemalloc_config.tracing;

RequestFlag::RequestFlag(PyThreadState* thread) : flag_(&thread->interp->ceval.eval_breaker._value) {}

namespace {

bool g_postponed = false;  // under the GIL

}  // namespace

void postpone_requests(PyThreadState* thread) {
  int* flag = &thread->interp->ceval.eval_breaker._value;
  if (__atomic_load_n(flag, __ATOMIC_RELAXED) != 0) {
    __atomic_store_n(flag, 0, __ATOMIC_RELAXED);
    g_postponed = true;
  }
}

void resume_requests() {
  if (g_postponed) {
    g_postponed = false;
    PyEval_RestoreThread(PyEval_SaveThread());  // whoever takes the GIL finds out what is requested
  }
}

bool serve_requests() {
  static PyObject* server = nullptr;
  if (server == nullptr) {
    server = make_server();
    if (server == nullptr) {
      return false;
    }
  }
  const std::array<PyObject*, 1> arguments = {Py_None};
  const Ref done = Ref::steal(PyObject_Vectorcall(server, arguments.data(), arguments.size(), nullptr));
  return static_cast<bool>(done);
}

}  // namespace tagalong::interp
