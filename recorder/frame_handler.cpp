// Frames that start while a session records: callees in the caller's graph, or opaque calls, which run without the
// evaluation hook.
#include <algorithm>
#include <utility>

#include "recorder/base/postponed_requests.h"
#include "recorder/deferred/array_proxy.h"
#include "recorder/session.h"
#include "rewriter/base/pending_error.h"
#include "rewriter/cpython/eval_hook.h"

namespace tagalong::recorder {

namespace {

// Runs a frame that was due between two instructions, although an exception is already set for its caller's frame.
PyObject* evaluate_and_raise(PyThreadState* thread, cpython::Frame* frame, int throw_flag) {
  PyObject* raised[3] = {};
  PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
  if (PyObject* result = cpython::evaluate(thread, frame, throw_flag)) {
    Py_DECREF(result);
    PyErr_Restore(raised[0], raised[1], raised[2]);
    return nullptr;
  }
  std::ranges::for_each(raised, [](PyObject* object) { Py_XDECREF(object); });
  return nullptr;
}

}  // namespace

PyObject* Session::handle_frame(PyThreadState* thread, cpython::Frame* frame, int throw_flag) {
  cpython::Frame* const caller = cpython::current_frame(thread);
  if (has_deferred_arrays(caller) && !force_arrays(caller)) {
    return evaluate_and_raise(thread, frame, throw_flag);
  }
  // Keeps the session alive: it may finish before the frame ends.
  const auto session = std::static_pointer_cast<Session>(Recordings::all().on(cpython::stack_of(thread)));
  if (session == nullptr || session->paused_) {
    remove_idle_hook(thread);
    return cpython::evaluate(thread, frame, throw_flag);
  }
  if (throw_flag != 0) {
    return cpython::evaluate(thread, frame, throw_flag);
  }
  const bool is_direct = !session->finished_ && session->direct_arguments(frame).has_value();
  const bool is_inlined = !session->finished_ && session->top().live == cpython::current_frame(thread) &&
                          cpython::has_c_stack(thread, session->limits_.stack) && session->try_inline(frame);
  if (PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();  // as in a hook: out of memory for something that the recorder does not need
  }
  if (is_inlined) {
    return session->run_inlined(frame, throw_flag, is_direct);
  }
  if (!session->finished_ && session->top().live == cpython::current_frame(thread) && session->is_consumed(frame)) {
    session->end_consumption();  // the generator cannot be followed any further
  }
  if (session->finished_) {  // it finished in try_inline() or end_consumption(), so it is not paused
    PyObject* result = cpython::evaluate(thread, frame, throw_flag);
    const PendingError pending;
    free_finished(thread);
    return result;
  }
  return session->run_opaque(frame, throw_flag, is_direct);
}

PyObject* Session::run_inlined(cpython::Frame* frame, int throw_flag, bool is_direct) {
  PyThreadState* const thread = thread_;
  PyObject* result = cpython::evaluate(thread, frame, throw_flag);
  if (result != nullptr && is_direct) {
    postpone_requests(thread);
  }
  // The session may have finished. If not, the callee has returned to its caller's shadow frame, or raised.
  const PendingError pending;  // the rest may run Python code, or clear errors of its own
  if (result == nullptr && Recordings::all().on(stack_).get() == this && !paused_ && !finished_ &&
      top().live == frame) {
    stop(Stop::k_interrupted);  // it raised before its first hook
  }
  free_finished(thread);  // handle_frame() keeps this session alive
  return result;
}

// An opaque call: runs as if no session recorded, without the evaluation hook.
PyObject* Session::run_opaque(cpython::Frame* frame, int throw_flag, bool is_direct) {
  transfer_arguments(frame);
  note_unrecorded_code();
  paused_ = true;
  cpython::release_hook();
  PyObject* result = cpython::evaluate(thread_, frame, throw_flag);
  // After this many frames in a row from C code (a sort with a key function calls many), the next frames are likely to
  // be the same kind, so the evaluation hook stays removed.
  constexpr int kManyFrames = 8;
  is_hook_removed_ = ++opaque_frames_ >= kManyFrames;
  if (!is_hook_removed_) {
    paused_ = false;
    cpython::acquire_hook();
  }
  if (result != nullptr && is_direct) {
    postpone_requests(thread_);
  }
  return result;
}

}  // namespace tagalong::recorder
