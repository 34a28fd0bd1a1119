// Frames that start while a session records: callees in the caller's graph, or opaque calls, which run without the
// hook.
#include <algorithm>
#include <utility>

#include "recorder/base/postponed_requests.h"
#include "recorder/deferred/array_proxy.h"
#include "recorder/session.h"
#include "rewriter/base/pending_error.h"
#include "rewriter/cpython/eval_hook.h"

namespace tagalong::recorder {

namespace {

// A frame that comes between two instructions, where an exception is due to the frame below it.
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
  // Kept here: the session may be over before the frame is.
  const auto session = std::static_pointer_cast<Session>(Recordings::all().on(cpython::stack_of(thread)));
  if (session == nullptr || session->waiting_) {
    lend_hook(thread);
    return cpython::evaluate(thread, frame, throw_flag);
  }
  if (throw_flag != 0) {
    return cpython::evaluate(thread, frame, throw_flag);
  }
  const bool is_direct = !session->finished_ && session->direct_arguments(frame).has_value();
  const bool is_inlined = !session->finished_ && session->top().live == cpython::current_frame(thread) &&
                          cpython::has_c_stack(thread, session->limits_.stack) && session->try_inline(frame);
  if (PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();  // as in a hook: there was no memory for something that the recorder has done without
  }
  if (is_inlined) {
    return session->run_inlined(frame, throw_flag, is_direct);
  }
  if (!session->finished_ && session->top().live == cpython::current_frame(thread) && session->is_consumed(frame)) {
    session->end_consumption();  // the generator cannot be followed to where it goes on
  }
  if (session->finished_) {  // just now, so it does not wait
    PyObject* result = cpython::evaluate(thread, frame, throw_flag);
    const PendingError pending;
    reap(thread);
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
  // The session may be over by now; if it is not, the callee has returned to the shadow of its caller, or raised.
  const PendingError pending;  // what follows may run Python code, or clear errors of its own
  if (result == nullptr && Recordings::all().on(stack_).get() == this && !waiting_ && !finished_ &&
      top().live == frame) {
    stop(Stop::k_interrupted);  // before its first hook
  }
  reap(thread);  // handle_frame() keeps this session
  return result;
}

// An opaque call: it runs as if no session recorded, without the hook.
PyObject* Session::run_opaque(cpython::Frame* frame, int throw_flag, bool is_direct) {
  hand_over_arguments(frame);
  note_others();
  waiting_ = true;
  cpython::release_hook();
  PyObject* result = cpython::evaluate(thread_, frame, throw_flag);
  // Where C code has called so many frames in a row, as a sort does with its key, the next ones are no others.
  constexpr int kManyFrames = 8;
  is_away_ = ++opaque_frames_ >= kManyFrames;
  if (!is_away_) {
    waiting_ = false;
    cpython::acquire_hook();
  }
  if (result != nullptr && is_direct) {
    postpone_requests(thread_);
  }
  return result;
}

}  // namespace tagalong::recorder
