// What was measured about one code object: for each entry, by the size of the argument arrays, whether a call or a
// round is faster as a replay or as the original instructions. Where the original is faster, the stubs inside are
// closed, so that it runs at plain speed.
//
// MeasuredSpeed (measured_speed.h) compares the times of one entry and size; timing_trials.h takes them.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "rewriter/cpython/frames.h"
#include "runtime/entries/traced_code.h"
#include "runtime/policy/measured_speed.h"

namespace tagalong::runtime {

class Measurements {
 public:
  explicit Measurements(TracedCode& code);

  [[nodiscard]] TracedCode& code() const { return code_; }

  // Whether calls and rounds are timed at all.
  [[nodiscard]] bool are_on() const { return can_be_measured_ && code_.may_retire() && options().measuring; }
  void cannot_be_measured() { can_be_measured_ = false; }

  // A loop or an exit was reached that may be recorded: the time since the last arrival is a first guess of a round's.
  void note_arrival(std::size_t entry);
  // A recorded call had arrays of this size.
  void note_arrays(std::int64_t elements) { has_arrays_ = has_arrays_ || elements > 0; }
  void expect_loss(std::size_t entry, bool expects_loss) { at(entry).expects_loss = expects_loss; }
  void guess_original_time(std::size_t entry, Nanoseconds time) { at(entry).original_guess = time; }
  // An executor is about to be attached to the entry.
  void prepare(std::size_t entry, replay::Executor& executor);
  // Other executors run at the entry now: what was measured there and of whole calls is void.
  void reset(std::size_t entry);
  // Nothing is known of the entry any more.
  void forget(std::size_t entry);

  // For the size of the frame's arguments.
  MeasuredSpeed& speed(std::size_t entry, cpython::Frame* frame);
  // Of the loop with this count; null: it is no loop, or its stub is closed.
  MeasuredSpeed* speed_at(const replay::Arrivals& arrivals, cpython::Frame* frame);
  // For the size that was asked for last; null: none was.
  [[nodiscard]] const MeasuredSpeed* current(std::size_t entry) { return at(entry).current; }
  [[nodiscard]] bool has_verdict(MeasuredSpeed::Verdict verdict) const;
  // Takes the trials that are missing as soon as the budget allows.
  void request_trials();

  // A call or a round runs the original instructions. If those were measured to be faster, the loops inside run them,
  // too. Returns the loss of a replay in ns if the original is faster for all sizes: then the code can be retired.
  std::optional<long> run_original(std::size_t entry, cpython::Frame* frame);
  // True: the call that begins runs the original instructions, untimed.
  bool skips_call() {
    if (skipped_calls_ == 0) [[likely]] {
      return false;
    }
    --skipped_calls_;
    return true;
  }
  // The call that begins is replayed, and so are its loops.
  void run_replay() {
    if (has_closed_stubs_) [[unlikely]] {
      reopen_stubs();
    }
  }

  struct OfSize {
    int size_class = 0;  // elements of the largest array, in powers of two; 0: no arrays
    MeasuredSpeed speed;
  };
  [[nodiscard]] const std::deque<OfSize>& of(std::size_t entry) const;

 private:
  struct OfEntry {
    std::deque<OfSize> sizes;
    MeasuredSpeed* current = nullptr;
    bool expects_loss = false;       // by estimate
    bool is_stub_closed = false;     // its stub is closed until a call is replayed
    Nanoseconds last_arrival = 0;    // that might have been recorded
    Nanoseconds original_guess = 0;  // time of a round or a call before anything was attached
  };
  OfEntry& at(std::size_t entry);
  void rest(std::size_t entry, PyCodeObject* replay_code);
  void reopen_stubs();
  [[nodiscard]] int size_class(cpython::Frame* frame) const;
  [[nodiscard]] const std::shared_ptr<replay::Arrivals>& arrivals_of(const Entry& entry,
                                                                     const replay::Executor& executor) const;

  TracedCode& code_;
  std::deque<OfEntry> entries_;  // as in code_.entries
  bool can_be_measured_ = true;
  bool has_arrays_ = false;
  bool has_closed_stubs_ = false;
  bool has_ever_closed_stubs_ = false;
  int skipped_calls_ = 0;  // calls that will run the original instructions without being asked
};

}  // namespace tagalong::runtime
