#include "rewriter/cpython/foreign_eval.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/frames.h"
#include "version/threads.h"

namespace tagalong::cpython {
namespace {

PyInterpreterState* g_interpreter = nullptr;  // the interpreter that tagalong runs in
_PyFrameEvalFunction g_foreign = nullptr;     // another tool's function that is installed in it; null: none
_PyFrameEvalFunction g_own = nullptr;         // tagalong's own function
_PyFrameEvalFunction g_aside = nullptr;       // the installed function, during a redirect

// The code of a suspended frame cannot be exchanged: its stack may hold an offset into the code.
bool has_started(const Frame* frame) { return version::has_started(frame, units_of(code_of(frame))); }

PyObject* evaluate_foreign(PyThreadState* thread, Frame* frame, int throw_flag) {
  const _PyFrameEvalFunction foreign = g_foreign;
  if (foreign == nullptr || code_of(frame)->co_filename == internal_filename()) {
    return _PyEval_EvalFrameDefault(thread, frame, throw_flag);
  }
  if (PyCodeObject* shown = shown_of(code_of(frame)); shown == code_of(frame)) {
    if (is_armed(shown) && !has_started(frame)) {
      pass_stub(thread, frame);
    }
  } else if (!has_started(frame)) {
    exchange_code(thread, frame, shown);
  }
  disarm(code_of(frame));
  return foreign(thread, frame, throw_flag);
}

// Null means CPython's own evaluation function, as in CPython.
void set_evaluation(PyInterpreterState* interpreter, _PyFrameEvalFunction function) {
  const bool is_default = function == nullptr || function == _PyEval_EvalFrameDefault;
  if (interpreter != g_interpreter || is_default || function == g_own) {
    interpreter->eval_frame = is_default ? nullptr : function;
    if (interpreter == g_interpreter) {
      g_foreign = nullptr;
      reasons_to_leave &= ~kForeignEvaluation;
    }
    return;
  }
  g_foreign = function;
  reasons_to_leave |= kForeignEvaluation;
  interpreter->eval_frame = evaluate_foreign;
}

_PyFrameEvalFunction evaluation_of(PyInterpreterState* interpreter) {
  const _PyFrameEvalFunction function = interpreter->eval_frame;
  if (function == evaluate_foreign) {
    return g_foreign;
  }
  return function == nullptr ? _PyEval_EvalFrameDefault : function;
}

#ifdef __x86_64__
// jmp [rip]; then the address.
constexpr std::array<unsigned char, 6> kJump = {0xFF, 0x25, 0, 0, 0, 0};
constexpr std::size_t kJumpSize = kJump.size() + sizeof(void*);

bool has_room(void* function) {
  Dl_info info{};
  void* symbol = nullptr;
  if (dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) {
    return false;
  }
  return info.dli_saddr == function && static_cast<const ElfW(Sym)*>(symbol)->st_size >= kJumpSize;
}

bool replace(void* function, void* replacement) {
  const auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  const std::uintptr_t first = address & ~(page_size - 1);
  const std::size_t size = address + kJumpSize - first;
  auto* pages = reinterpret_cast<void*>(first);
  if (mprotect(pages, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return false;
  }
  std::memcpy(function, kJump.data(), kJump.size());
  std::memcpy(static_cast<char*>(function) + kJump.size(), static_cast<const void*>(&replacement), sizeof(replacement));
  return mprotect(pages, size, PROT_READ | PROT_EXEC) == 0;
}
#endif

}  // namespace

PyObject* internal_filename() {
  static PyObject* name = nullptr;
  return once(name, [] { return PyUnicode_InternFromString("<tagalong>"); });
}

int reasons_to_leave = 0;

void suspend_evaluation_function(PyThreadState* thread) {
  g_aside = std::exchange(thread->interp->eval_frame, nullptr);
}

void restore_evaluation_function(PyThreadState* thread) {
  if (g_aside != nullptr) {
    thread->interp->eval_frame = std::exchange(g_aside, nullptr);
  }
}

void watch_evaluation_functions(_PyFrameEvalFunction own) {
#ifdef __x86_64__
  auto* const setter = reinterpret_cast<void*>(_PyInterpreterState_SetEvalFrameFunc);
  auto* const getter = reinterpret_cast<void*>(_PyInterpreterState_GetEvalFrameFunc);
  PyInterpreterState* const interpreter = PyInterpreterState_Get();
  if (g_interpreter != nullptr || internal_filename() == nullptr || !has_room(setter) || !has_room(getter)) {
    PyErr_Clear();
    return;
  }
  const _PyFrameEvalFunction present = _PyInterpreterState_GetEvalFrameFunc(interpreter);
  // Threads inside of the two functions would hold the GIL, which this thread holds.
  if (replace(getter, reinterpret_cast<void*>(evaluation_of)) &&
      replace(setter, reinterpret_cast<void*>(set_evaluation))) {
    g_interpreter = interpreter;
    g_own = own;
    set_evaluation(interpreter, present);
  }
#endif
}

}  // namespace tagalong::cpython
