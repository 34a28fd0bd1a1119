// One run from a stub: executors one after the other, as long as each leaves where others are attached.
//
//   Ref result;
//   if (TraceChain(thread, frame, anchor, record, entry).run(&result)) { ... }   // the call's result
//   else if (pending_change() != FrameChange::kNone) { ... }   // the frame will be changed (frame_changes.h)
#pragma once

#include "recorder/session.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/requests.h"
#include "runtime/records/code_record.h"
#include "runtime/records/frame_changes.h"

namespace tagalong::runtime {

// Whether the original instructions run because of the thread's state: a tool watches it, it records, or too little of
// the recursion limit is left.
[[nodiscard]] inline bool steps_aside(PyThreadState* thread) {
  constexpr int kSpareRecursion = 40;  // Python calls that a side exit may need
  return cpython::is_watched(thread) || cpython::recursion_left(thread) < kSpareRecursion ||
         cpython::foreign_hook(thread) || recorder::Session::is_recording(thread);
}
// Whether too little C stack is left: a replay takes some where a call from bytecode to bytecode takes none.
[[nodiscard]] inline bool is_too_deep(PyThreadState* thread, TracedCode& code) {
  const bool is_reached = !cpython::has_c_stack(thread, code.limits().stack);
  if (is_reached) [[unlikely]] {
    count_limit(code.counters, replay::Limit::k_stack);
  }
  return is_reached;
}
[[nodiscard]] bool can_record(cpython::Frame* frame, std::size_t entry);

class TraceChain final : private replay::TraceLinker {
 public:
  TraceChain(PyThreadState* thread, cpython::Frame* frame, PyObject* anchor, CodeRecord& record, std::size_t entry)
      : thread_(thread),
        frame_(frame),
        anchor_(anchor),
        record_(record),
        code_(record.code),
        entry_(entry),
        requested_(thread) {}

  // True: `result` is the call's result. False: the frame continues, after a change if one is pending.
  bool run(Ref* result);

 private:
  enum class Tried : std::uint8_t { kMissed, kReturned, kSideExit };
  Tried try_executors(Entry& place, std::uint64_t newer_than, Event event, Ref* result);
  void prepare(replay::Run& run, PyObject* const* slots);
  void count_run(const replay::Run& run, replay::Outcome outcome);
  bool continue_elsewhere(Ref* result, Tried* tried, FrameChange* change);
  [[nodiscard]] int behind_jump(int instruction) const;

  replay::Attached* attached(int instruction, std::size_t depth) override;
  void linked_trace(const replay::Run& run, const replay::Executor& from, bool is_complete) override;
  bool is_hot_link(const replay::Executor& from, const replay::Step& step, const replay::Executor& next) override;
  [[nodiscard]] std::int64_t total_gain() const override { return record_.retirement.total_gain() + gain_; }
  bool stops_at(replay::Arrivals& arrivals) override;

  PyThreadState* thread_;
  cpython::Frame* frame_;
  PyObject* anchor_;
  CodeRecord& record_;
  TracedCode& code_;
  std::size_t entry_;
  Event event_ = Event::kHit;
  int gain_ = 0;         // of the executors before the last trace link
  int trace_links_ = 0;  // part of it
  bool is_stopped_ = false;
  std::uint64_t without_progress_ = 0;  // the trace that the last run left where it had begun; 0: none
  replay::SideExit side_exit_;
  const cpython::RequestFlag requested_;
};

}  // namespace tagalong::runtime
