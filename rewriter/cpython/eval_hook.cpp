#include "rewriter/cpython/eval_hook.h"

#include <utility>

#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/foreign_eval.h"

namespace tagalong::cpython {
namespace {

FrameHandler g_handler = nullptr;
FrameHandler g_first = nullptr;
FrameHandler g_observer = nullptr;
int g_users = 0;
bool g_suspended = false;
bool g_idle_hook_removed = false;
thread_local int t_users = 0;  // number of users in this thread

PyObject* hook(PyThreadState* thread, Frame* frame, int throw_flag) {
  if (throw_flag == 0 && is_armed(code_of(frame))) {
    pass_stub(thread, frame);
  }
  return (g_first != nullptr ? g_first : pass_on)(thread, frame, throw_flag);
}

_PyFrameEvalFunction installed(PyThreadState* thread) { return _PyInterpreterState_GetEvalFrameFunc(thread->interp); }

void apply(PyThreadState* thread) {
  if (foreign_hook(thread)) {
    return;
  }
  const bool wanted = g_users > 0 && !g_suspended && !g_idle_hook_removed;
  _PyInterpreterState_SetEvalFrameFunc(thread->interp, wanted ? hook : _PyEval_EvalFrameDefault);
}

}  // namespace

void set_frame_handler(FrameHandler handler) { g_handler = handler; }

void set_first_handler(FrameHandler handler) { g_first = handler; }

void set_observer(FrameHandler handler) { g_observer = handler; }

PyObject* pass_on(PyThreadState* thread, Frame* frame, int throw_flag) {
  return (g_observer != nullptr ? g_observer : pass_to_handler)(thread, frame, throw_flag);
}

PyObject* pass_to_handler(PyThreadState* thread, Frame* frame, int throw_flag) {
  return (g_handler != nullptr ? g_handler : evaluate)(thread, frame, throw_flag);
}

PyObject* evaluate(PyThreadState* thread, Frame* frame, int throw_flag) {
  return _PyEval_EvalFrameDefault(thread, frame, throw_flag);
}

void acquire_hook() {
  ++t_users;
  if (++g_users == 1 || g_idle_hook_removed) {
    g_idle_hook_removed = false;
    apply(thread_state());
  }
}

void release_hook() {
  --t_users;
  if (--g_users == 0) {
    apply(thread_state());
  }
}

void remove_idle_hook(PyThreadState* thread) {
  if (g_first == nullptr && g_observer == nullptr) {  // the first handler and the observer want frames of any stack
    g_idle_hook_removed = true;
    apply(thread);
  }
}

bool restore_idle_hook() {
  const bool was_removed = std::exchange(g_idle_hook_removed, false);
  if (was_removed) {
    apply(thread_state());
  }
  return was_removed;
}

void watch_foreign_hooks() { watch_evaluation_functions(hook); }

bool has_hook() { return installed(thread_state()) == hook; }

void forget_other_threads() {
  g_users = t_users;
  g_idle_hook_removed = false;
  apply(thread_state());
}

bool foreign_hook(PyThreadState* thread) {
  const _PyFrameEvalFunction function = installed(thread);
  return function != _PyEval_EvalFrameDefault && function != hook;
}

void suspend_hook(PyThreadState* thread) {
  if (g_users > 0) {
    g_suspended = true;
    apply(thread);
  }
}

void restore_hook(PyThreadState* thread) {
  if (g_suspended) {
    g_suspended = false;
    apply(thread);
  }
}

}  // namespace tagalong::cpython
