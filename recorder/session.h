// A session: one recording on one stack of frames, from the entry of the root frame to its return (or to the point
// where the recorder stops). The program runs by itself and the session only follows: hooks report the current
// instruction, and the layers below (recorder/README.md) translate it into nodes. When a session cannot continue it
// gives a reason, and the trace ends with a `leave` at the last consistent state.
//
//   const RecordingCode& code = Session::start(thread, frame, start, sink, limits);
//   // the frame continues with this code; its hooks drive the session, and the sink gets the graph
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
  // Where a recording starts: the frame is behind the RESUME of this entry, or at `elsewhere`, which is not an entry of
  // the code. A generator's frame has a home.
  struct Start {
    std::shared_ptr<const DecodedCode> decoded;
    int entry = 0;
    HomeRef home;
    Ref sink_owner;               // the object that owns the sink: the program may drop the code that is being recorded
    bool has_every_hook = false;  // also hooks where a later hook would suffice: for listings of the recording code
    std::optional<DecodedCode::Entry> elsewhere = std::nullopt;
    RecordingCodeRef known = nullptr;  // recording code of an earlier recording of this code
  };
  // Returns the recording code with which the frame must continue; the session lives until it has finished. Throws
  // RewriteError or PythonError before it changes anything.
  static const RecordingCode& start(PyThreadState* thread, cpython::Frame* frame, const Start& start, Sink& sink,
                                    const Limits& limits);
  // Whether the current stack is recording (and the recording is not paused for an opaque call).
  static bool is_recording(PyThreadState* thread) { return Recordings::has_active(thread); }

  // Frees the session that has just finished on this stack; called when none of its methods is running.
  static void free_finished(PyThreadState* thread);

  // Called in the child of a fork, where recordings of other threads never continue.
  static void forget_other_threads(PyThreadState* thread) { Recordings::all().forget_other_threads(thread); }

  // Called when a frame has started on a stack that does not record. Removes the evaluation hook until a recording
  // continues, unless some recording has to see the next frame.
  static void remove_idle_hook(PyThreadState* thread);

  // Called by the hooks of recording code, resume_recording() first.
  void resume_recording(cpython::Frame* frame);
  void before(cpython::Frame* frame, int instruction);
  void after(cpython::Frame* frame, int instruction);
  void unwound(cpython::Frame* frame);
  // Called in front of before() and behind it (deferred/preparation.h). False: a deferred array operation has raised.
  bool prepare_array_operation(cpython::Frame* frame, int instruction);
  bool put_array_operation(cpython::Frame* frame, int instruction);
  // Whether the instruction is the last one of the frame.
  [[nodiscard]] bool returns(cpython::Frame* frame, int instruction) const;
  void note_written_local(const cpython::Frame* frame) override;
  // Whether eager execution polls the eval breaker at this hook.
  [[nodiscard]] bool is_poll_place(const cpython::Frame* frame, int instruction, bool is_after) const;

  [[nodiscard]] PyThreadState* thread() const { return thread_; }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override;

  void stop(Stop reason) override;  // does not throw, and keeps the pending exception

 private:
  Session(PyThreadState* thread, Sink& sink, const Limits& limits, const Start& start);

  // The entry of the root frame (entry.cpp).
  void start_root(cpython::Frame* frame, const Start& start);
  void guard_bound_locals();
  void start_root_stack(const DecodedCode::Entry& entry);

  // Frames that start during the recording (frame_handler.cpp).
  static PyObject* handle_frame(PyThreadState* thread, cpython::Frame* frame, int throw_flag);
  PyObject* run_inlined(cpython::Frame* frame, int throw_flag, bool is_direct);
  PyObject* run_opaque(cpython::Frame* frame, int throw_flag, bool is_direct);

  [[nodiscard]] bool is_own_frame(const cpython::Frame* frame) const;
  bool may_continue();
  [[nodiscard]] ArrayPlace array_place(cpython::Frame* frame, int instruction) const;
  void release_refused_arguments();

  // The end of the trace.
  void abandon(Stop reason) override;
  void end_trace() override { end_with_side_exit({}); }
  void leave_recording_code() override { finish_and_leave({}); }
  void finish_trace() override { finish_with({}); }
  void end_at(Stop reason);
  void end_with_side_exit(Recorded recorded);
  void finish_and_leave(Recorded recorded);
  void finish_with(Recorded recorded);
  void publish(Recorded recorded);

  cpython::StackId stack_;
  int entry_ = 0;
  bool is_hook_removed_ =
      false;               // during an opaque call: the evaluation hook is removed until a recorded frame continues
  int opaque_frames_ = 0;  // number of opaque frames since a recorded frame ran
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  bool has_written_local_ = false;
  std::shared_ptr<Recording> outer_;  // the recording that is paused while this one records
};

}  // namespace tagalong::recorder
