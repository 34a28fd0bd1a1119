// A session: one recording on one stack, from the entry of the root frame to its return (or to the point where the
// recorder stops). The program runs by itself, the session only follows it: hooks tell where it is, the layers below
// (recorder/README.md) say what that means for the graph. When a session cannot go on it gives a reason, and the trace
// ends with a `leave` at the last consistent state.
//
//   const RecordingCode& code = Session::start(thread, frame, start, sink, limits);
//   // the frame goes on with this code; its hooks drive the session, and the sink gets the graph
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "recorder/base/recordings.h"
#include "recorder/code/recording_code.h"
#include "recorder/deferred/preparation.h"
#include "recorder/rules/rules.h"
#include "recorder/trace/recorded.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/stacks.h"

namespace tagalong::recorder {

class Session final : public Recording, public std::enable_shared_from_this<Session>, private Rules {
 public:
  // Where a recording starts: the frame is behind the RESUME of this entry, or at a place that is none of the code's
  // entries. A generator's frame has a home.
  struct Start {
    std::shared_ptr<const DecodedCode> decoded;
    int entry = 0;
    HomeRef home;
    Ref sink_owner;  // the object that the sink belongs to: the program may let go of the code that it records
    bool has_every_hook = false;  // also where a later hook would do: for listings of the recording code
    std::optional<DecodedCode::Entry> elsewhere = std::nullopt;
    RecordingCodeRef known = nullptr;  // of an earlier recording of this code
  };
  // Returns the recording code that the frame has to go on with; the session lives until it is finished. Throws
  // RewriteError or PythonError before anything has changed.
  static const RecordingCode& start(PyThreadState* thread, cpython::Frame* frame, const Start& start, Sink& sink,
                                    const Limits& limits);
  // Whether the current stack is recording right now (and not waiting for an opaque call).
  static bool is_recording(PyThreadState* thread) { return Recordings::has_active(thread); }

  // Frees the session that has just finished on this stack; called when none of its methods runs any more.
  static void reap(PyThreadState* thread);

  // In the child of a fork: recordings of other threads will never go on.
  static void forget_other_threads(PyThreadState* thread) { Recordings::all().forget_other_threads(thread); }

  // A frame has started on a stack that does not record. Where no recording needs to see the next frame, the evaluation
  // hook stays away until a recording goes on.
  static void lend_hook(PyThreadState* thread);

  // From the hooks of recording code. come_back() is called first.
  void come_back(cpython::Frame* frame);
  void before(cpython::Frame* frame, int instruction);
  void after(cpython::Frame* frame, int instruction);
  void unwound(cpython::Frame* frame);
  // Called in front of before() and behind it (deferred/preparation.h). False: a deferred operation of arrays has
  // raised an exception.
  bool prepare_array_operation(cpython::Frame* frame, int instruction);
  bool put_array_operation(cpython::Frame* frame, int instruction);
  // Whether the instruction is the last one of the frame.
  [[nodiscard]] bool returns(cpython::Frame* frame, int instruction) const;
  // Whether eager execution looks for signals and other threads at this hook.
  [[nodiscard]] bool is_poll_place(const cpython::Frame* frame, int instruction, bool is_after) const;

  [[nodiscard]] PyThreadState* thread() const { return thread_; }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override;

  void stop(Stop reason) override;  // throws nothing, and keeps the exception that is set

 private:
  Session(PyThreadState* thread, Sink& sink, const Limits& limits, const Start& start);

  // The entry of the root frame (entry.cpp).
  void start_root(cpython::Frame* frame, const Start& start);
  void guard_bound_locals();
  void start_root_stack(const DecodedCode::Entry& entry);

  // Frames that start meanwhile (frame_handler.cpp).
  static PyObject* handle_frame(PyThreadState* thread, cpython::Frame* frame, int throw_flag);
  PyObject* run_inlined(cpython::Frame* frame, int throw_flag, bool is_direct);
  PyObject* run_opaque(cpython::Frame* frame, int throw_flag, bool is_direct);

  [[nodiscard]] bool is_mine(const cpython::Frame* frame) const;
  bool may_go_on();
  [[nodiscard]] ArrayPlace array_place(cpython::Frame* frame, int instruction) const;
  void give_up_refused();

  // The end of the trace.
  void abandon(Stop reason) override;
  void end_trace() override { end_with({}); }
  void leave_recording_code() override { leave_with({}); }
  void finish_trace() override { finish_with({}); }
  void end_at(Stop reason);
  void end_with(Recorded recorded);
  void leave_with(Recorded recorded);
  void finish_with(Recorded recorded);
  void hand_over(Recorded recorded);

  cpython::StackId stack_;
  int entry_ = 0;
  bool is_away_ = false;   // an opaque call is under way, and the hook stays away until a recorded frame goes on
  int opaque_frames_ = 0;  // since a recorded frame has gone on
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::shared_ptr<Recording> outer_;  // the recording that waits while this one records
};

}  // namespace tagalong::recorder
