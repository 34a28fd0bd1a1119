// Whether replaying pays, measured: some calls of a function (or rounds of a loop) are timed in turn as replays and as
// they were written. What `cost_model.h` estimates is the first guess, this has the last word. Two things are bounded:
// what the trials of the whole process cost (MeasuringBudget), and how long a result is believed: each trial is
// repeated later, after longer and longer pauses while it says the same.
//
//   switch (const Next next = worth.next(); next.way) { ... }   // which way this call goes
//   worth.took(next.way, nanoseconds, 1);                       // if next.is_timed
#pragma once

#include <cstdint>

namespace tagalong::runtime {

using Nanoseconds = std::int64_t;
[[nodiscard]] Nanoseconds clock_now();

enum class Way : std::uint8_t { kReplay, kWritten };

// What all trials together have cost: the time that the slower way took longer. Used under the GIL.
class MeasuringBudget {
 public:
  [[nodiscard]] bool allows(Nanoseconds cost, Nanoseconds now);
  void spent(Nanoseconds cost) { spent_ += cost; }

 private:
  static constexpr Nanoseconds kAllowance = 2'000'000;
  static constexpr Nanoseconds kShare = 100;  // of the time since the first question, the hundredth part
  Nanoseconds start_ = 0;
  Nanoseconds spent_ = 0;
};
MeasuringBudget& measuring_budget();

class MeasuredSpeed {
 public:
  enum class Unit : std::uint8_t { kCall, kRound };
  enum class Verdict : std::uint8_t { kNone, kReplay, kWritten };
  struct Next {
    Way way = Way::kReplay;
    bool is_timed = false;
  };

  explicit MeasuredSpeed(Unit unit) : unit_(unit), asks_(unit == Unit::kCall ? kFirstAsks : 1) {}

  // The way of the next unit.
  [[nodiscard]] Next next() {
    if (block_ == Block::kNone && --asks_ > 0) [[likely]] {
      return {usual(), false};
    }
    return decide();
  }
  // Of a unit that is timed; `units` may be 0 where time has passed and no round has been completed.
  void took(Way way, Nanoseconds time, std::int64_t units);
  // Graphs have come or gone: what was measured is of others.
  void begin_anew();
  // A trial as soon as the budget allows.
  void hasten();
  // The next question looks at the clock.
  void look() { asks_ = 1; }
  // What was being measured cannot be.
  void cancel();
  // As long a time as written as this is expected, until something is measured: the budget counts with that.
  void guess(Nanoseconds written) { guess_ = written; }

  // By estimate replaying does not pay: where no difference can be measured, it runs as written.
  void expect_loss(bool expects_loss) { expects_loss_ = expects_loss; }

  [[nodiscard]] Verdict verdict() const { return verdict_; }
  [[nodiscard]] Way usual() const { return verdict_ == Verdict::kWritten ? Way::kWritten : Way::kReplay; }
  [[nodiscard]] bool is_due() const;
  // How many rounds until it will be due, as long as they are replayed.
  [[nodiscard]] std::int64_t rounds_until_due() const;
  // A unit takes so long that others may have the processor meanwhile.
  [[nodiscard]] bool is_long() const;
  [[nodiscard]] bool is_measuring() const { return block_ != Block::kNone; }
  // Of a unit, when they were measured last.
  [[nodiscard]] Nanoseconds replay_time() const { return static_cast<Nanoseconds>(replay_); }
  [[nodiscard]] Nanoseconds written_time() const { return static_cast<Nanoseconds>(written_); }
  [[nodiscard]] std::int64_t trials() const { return trials_; }

 private:
  enum class Block : std::uint8_t { kNone, kReplays, kWritten };

  Next decide();
  void begin(Block block);
  void pause(Nanoseconds time, Nanoseconds now);
  [[nodiscard]] bool is_complete() const;
  void compare();
  void conclude(Verdict verdict);
  [[nodiscard]] double expected_units() const;

  Unit unit_;
  Verdict verdict_ = Verdict::kNone;
  Block block_ = Block::kNone;
  bool expects_loss_ = false;
  std::int8_t votes_ = 0;  // for replaying, less those against it
  std::int8_t pairs_ = 0;
  std::int8_t confirmed_ = 0;
  std::int8_t skipped_ = 0;  // units at the beginning of a block, which are cold
  std::int32_t asks_ = kFirstAsks;
  std::int64_t units_ = 0;
  std::int64_t replayed_units_ = 0;  // in the last block of replays
  std::int64_t trials_ = 0;
  Nanoseconds time_ = 0;
  Nanoseconds due_ = 0;
  Nanoseconds guess_ = 0;
  Nanoseconds lost_ = 0;  // by the trial under way
  double replay_ = 0, written_ = 0;

  static constexpr std::int32_t kFirstAsks = 8;
};

}  // namespace tagalong::runtime
