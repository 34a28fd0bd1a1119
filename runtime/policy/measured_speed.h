// Whether replaying is faster, by measurement: some calls of a function, or rounds of a loop, are timed in turn as
// replays and as original instructions. The estimate of cost_model.h is the first guess, the measurement decides. All
// trials of the process together have a budget (MeasuringBudget). Trials are repeated after pauses, which grow while
// the result stays the same.
//
//   switch (const Next next = speed.next(); next.execution) { ... }   // how this unit runs
//   speed.add_time(next.execution, nanoseconds, 1);                       // if next.is_timed
#pragma once

#include <cstdint>

namespace tagalong::runtime {

using Nanoseconds = std::int64_t;
[[nodiscard]] Nanoseconds clock_now();

enum class Execution : std::uint8_t { kReplay, kEager };

// What all trials together have cost: the extra time of the slower execution. Used under the GIL.
class MeasuringBudget {
 public:
  [[nodiscard]] bool allows(Nanoseconds cost, Nanoseconds now);
  void spent(Nanoseconds cost) { spent_ += cost; }

 private:
  static constexpr Nanoseconds kAllowance = 2'000'000;
  static constexpr Nanoseconds kShare = 100;  // one part in so many of the time since the first question
  Nanoseconds start_ = 0;
  Nanoseconds spent_ = 0;
};
MeasuringBudget& measuring_budget();

class MeasuredSpeed {
 public:
  enum class Unit : std::uint8_t { kCall, kRound };
  enum class Verdict : std::uint8_t { kNone, kReplay, kEager };
  struct Next {
    Execution execution = Execution::kReplay;
    bool is_timed = false;
  };

  explicit MeasuredSpeed(Unit unit) : unit_(unit), asks_(unit == Unit::kCall ? kFirstAsks : 1) {}

  // How the next unit runs.
  [[nodiscard]] Next next() {
    if (block_ == Block::kNone && --asks_ > 0) [[likely]] {
      return {usual(), false};
    }
    return decide();
  }
  // A timed unit has ended. `units` may be 0 if no round was completed.
  void add_time(Execution execution, Nanoseconds time, std::int64_t units);
  // Other graphs run now: forgets what was measured.
  void reset();
  // Starts a trial as soon as the budget allows.
  void request_trials();
  // The next question reads the clock.
  void look() { asks_ = 1; }
  // Drops the trial under way.
  void cancel();
  // Time of an original unit until one is measured; the budget counts with it.
  void guess(Nanoseconds eager) { guess_ = eager; }

  // By estimate replaying is slower: without a measurable difference original instructions run.
  void expect_loss(bool expects_loss) { expects_loss_ = expects_loss; }

  [[nodiscard]] Verdict verdict() const { return verdict_; }
  [[nodiscard]] Execution usual() const { return verdict_ == Verdict::kEager ? Execution::kEager : Execution::kReplay; }
  [[nodiscard]] bool is_due() const;
  // How many rounds may run before the clock is read again: few if they are long.
  [[nodiscard]] std::int64_t rounds_between_looks() const;
  [[nodiscard]] static std::int64_t rounds_between_looks(Nanoseconds round);
  // How many replayed rounds there are until a trial is due.
  [[nodiscard]] std::int64_t rounds_until_due() const;
  [[nodiscard]] bool is_measuring() const { return block_ != Block::kNone; }
  // Of a unit, by the last measurement.
  [[nodiscard]] Nanoseconds replay_time() const { return static_cast<Nanoseconds>(replay_); }
  [[nodiscard]] Nanoseconds eager_time() const { return static_cast<Nanoseconds>(eager_); }
  [[nodiscard]] std::int64_t trials() const { return trials_; }

 private:
  enum class Block : std::uint8_t { kNone, kReplays, kEager };

  Next decide();
  void begin(Block block);
  void pause(Nanoseconds time, Nanoseconds now);
  [[nodiscard]] bool is_complete() const;
  void compare();
  [[nodiscard]] bool skips(Nanoseconds time, std::int64_t units);
  void conclude(Verdict verdict);
  [[nodiscard]] double expected_units() const;

  Unit unit_;
  Verdict verdict_ = Verdict::kNone;
  Block block_ = Block::kNone;
  bool expects_loss_ = false;
  std::int8_t votes_ = 0;  // for replaying, minus those against it
  std::int8_t pairs_ = 0;
  std::int8_t confirmed_ = 0;
  std::int8_t skipped_ = 0;  // cold units left at the beginning of a block
  std::int32_t asks_ = kFirstAsks;
  std::int64_t units_ = 0;
  std::int64_t replayed_units_ = 0;  // in the last block of replays
  std::int64_t trials_ = 0;
  Nanoseconds time_ = 0;
  Nanoseconds due_ = 0;
  Nanoseconds guess_ = 0;
  Nanoseconds lost_ = 0;  // ns lost by the trial under way
  double replay_ = 0, eager_ = 0;
  double least_replay_ = 0, least_eager_ = 0;  // of the blocks of the trial under way

  static constexpr std::int32_t kFirstAsks = 8;
};

}  // namespace tagalong::runtime
