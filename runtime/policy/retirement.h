// Retirement of one code object: runs are weighed, and if together they have cost more than the original instructions
// would have, its executors are removed and its functions get their original code back. Retired code can be revived.
#pragma once

#include <climits>

#include "rewriter/cpython/frames.h"
#include "runtime/policy/active_recordings.h"
#include "runtime/policy/function_makers.h"
#include "runtime/policy/measurements.h"

namespace tagalong::runtime {

class Retirement {
 public:
  Retirement(TracedCode& code, Measurements& measurements, ActiveRecordings& recordings)
      : code_(code), measurements_(measurements), recordings_(recordings), makers_(code) {}
  Retirement(const Retirement&) = delete;
  Retirement& operator=(const Retirement&) = delete;
  ~Retirement();

  // `gain`: what a run has saved, in ns against the original instructions. `trace_links`: the part of it that going
  // from one executor into another has cost.
  void weigh(int gain, int trace_links = 0) {
    balance_ += gain;
    trace_links_ += trace_links;
    if (++weighed_ >= (code_.may_retire() ? code_.limits().retire_after : INT_MAX)) [[unlikely]] {
      decide_retirement();
    }
  }
  // An executor was attached. If it makes a loop faster, what runs have cost until now says nothing about later runs.
  void reset_balance(const replay::Executor& executor);
  // What the runs weighed since the last judgement have saved, in ns. Unlimited if nothing is retired.
  [[nodiscard]] long total_gain() const;
  // The same if linked executors were one.
  [[nodiscard]] long total_gain_if_merged() const { return total_gain() - trace_links_; }

  [[nodiscard]] bool is_retired() const { return is_retired_; }
  // May be called during a run: executors that are running are freed after it. `loss`: of a run, in ns.
  void retire(long loss);
  // After a recording: several graphs were made and none of them pays, while each recording costs as much as many
  // calls.
  void retire_if_no_graph_pays();
  // The recording budget is used up. The code is revived when recordings are affordable again.
  void retire_until_affordable();
  // Revives the code that has waited longest for the recording budget.
  static void revive_next();
  void revive();

  // The function of this frame, whose call has reached the stub of retired code, gets its original code back.
  void restore_function(cpython::Frame* frame);
  // Whether this frame, at another stub of retired code, can continue in the original code. False: it runs the original
  // instructions of the replay code, and the stub is closed.
  bool can_restore_frame(cpython::Frame* frame, std::size_t entry);

  [[nodiscard]] FunctionMakers& makers() { return makers_; }

  // For reports.
  [[nodiscard]] long loss() const { return loss_; }
  [[nodiscard]] bool waits_for_budget() const { return waits_for_budget_; }

 private:
  void decide_retirement();
  void close_stubs(PyCodeObject* replay_code);
  void leave_queue();
  [[nodiscard]] bool no_graph_pays() const;

  static constexpr int kMostUnmeasured = 8;

  TracedCode& code_;
  Measurements& measurements_;
  ActiveRecordings& recordings_;
  FunctionMakers makers_;
  long balance_ = 0;      // ns saved by the runs weighed since the last judgement
  long trace_links_ = 0;  // part of it
  int weighed_ = 0;
  int unmeasured_ = 0;  // judgements against replaying that waited for a measurement
  long loss_ = 0;       // of a run, in ns, when the code was retired
  bool is_retired_ = false;
  bool waits_for_budget_ = false;
  int restored_functions_ = 0;  // since the code was retired
  int restored_frames_ = 0;
};

}  // namespace tagalong::runtime
