#include "runtime/policy/measured_speed.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace tagalong::runtime {
namespace {

constexpr Nanoseconds kMicrosecond = 1'000;
constexpr Nanoseconds kMillisecond = 1'000'000;
// One unit of this length is enough: chance and cold caches matter little.
constexpr Nanoseconds kLongUnit = 300 * kMicrosecond;

// Timing an original call adds the mark at its end. The timed part of a replay lacks the stub.
constexpr double kMark = 20;
constexpr double kStub = 25;
constexpr double kObvious = 2;    // with this factor one comparison is enough
constexpr double kClear = 1.15;   // with this factor two are
constexpr double kMargin = 1.02;  // smaller differences do not count
constexpr int kVotes = 3;
constexpr int kMostPairs = 5;
constexpr Nanoseconds kMostGate = 64;
constexpr Nanoseconds kMostGateOfWritten = 2;  // Measurements::skips_call skips more calls

}  // namespace

Nanoseconds clock_now() {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

bool MeasuringBudget::allows(Nanoseconds cost, Nanoseconds now) {
  if (start_ == 0) {
    start_ = now;
  }
  return spent_ + cost <= kAllowance + (now - start_) / kShare;
}

MeasuringBudget& measuring_budget() {
  static constinit MeasuringBudget budget;
  return budget;
}

MeasuredSpeed::Next MeasuredSpeed::decide() {
  if (block_ == Block::kNone) {
    const Nanoseconds now = clock_now();
    const double longer = verdict_ == Verdict::kEager ? std::max(replay_ - eager_, 0.0) : 0;
    const auto cost = static_cast<Nanoseconds>(longer * expected_units());
    if (now < due_ || !measuring_budget().allows(cost, now)) {
      pause(std::max(due_ - now, kMillisecond), now);
      return {usual(), false};
    }
    begin(Block::kReplays);
  }
  return {block_ == Block::kReplays ? Execution::kReplay : Execution::kEager, true};
}

// Sets after how many units the clock is read again.
void MeasuredSpeed::pause(Nanoseconds time, Nanoseconds now) {
  constexpr Nanoseconds kBetweenLooks = 20 * kMicrosecond;
  due_ = now + time;
  const bool is_eager = verdict_ == Verdict::kEager;
  const double unit = std::max(is_eager ? eager_ : replay_, 1.0);
  // A short unit may be long the next time.
  const Nanoseconds most = is_eager ? kMostGateOfWritten : kMostGate;
  asks_ = static_cast<std::int32_t>(
      std::clamp(static_cast<Nanoseconds>(static_cast<double>(kBetweenLooks) / unit), Nanoseconds{1}, most));
}

void MeasuredSpeed::begin(Block block) {
  block_ = block;
  time_ = 0;
  units_ = 0;
  constexpr std::int8_t kWarm = 1;
  constexpr std::int8_t kCold = 3;  // instructions are not specialised by the interpreter, or caches are cold
  const bool is_rare = block == Block::kEager ? trials_ == 0 && pairs_ == 0 : verdict_ == Verdict::kEager;
  skipped_ = unit_ == Unit::kCall && is_rare ? kCold : kWarm;
}

double MeasuredSpeed::expected_units() const {
  constexpr double kCalls = 4;
  constexpr double kRounds = 10;
  return unit_ == Unit::kCall ? kCalls : kRounds;
}

bool MeasuredSpeed::is_complete() const {
  if (unit_ == Unit::kCall) {
    return (units_ >= 3 && time_ >= 3 * kMicrosecond) || (units_ >= 1 && time_ >= 300 * kMicrosecond) || units_ >= 32;
  }
  if (block_ == Block::kReplays) {
    // Loops get machine code after many rounds, and the machine code is to be measured.
    return (units_ >= 320 && time_ >= 20 * kMicrosecond) || (units_ >= 1 && time_ >= kMillisecond) || units_ >= 4096;
  }
  return (units_ >= 8 && time_ >= 10 * kMicrosecond) || (units_ >= 1 && time_ >= kMillisecond / 2) || units_ >= 128;
}

void MeasuredSpeed::add_time(Execution execution, Nanoseconds time, std::int64_t units) {
  if (block_ != (execution == Execution::kReplay ? Block::kReplays : Block::kEager)) {
    return;
  }
  if (skipped_ > 0 && skips(time, units)) {
    return;
  }
  time_ += time;
  units_ += units;
  const double each = units_ == 0 ? 0 : static_cast<double>(time_) / static_cast<double>(units_);
  const bool is_clear = block_ == Block::kEager && units_ > 0 && each >= static_cast<double>(kLongUnit) &&
                        each > replay_ * kClear * kClear;
  if (units_ == 0 || (!is_complete() && !is_clear)) {
    return;
  }
  if (block_ == Block::kReplays) {
    replay_ = each + (unit_ == Unit::kCall ? kStub : 0);
    replayed_units_ = units_;
    const Nanoseconds now = clock_now();
    // The estimate from a recording may be far too high.
    constexpr double kMost = 10;
    const double eager = trials_ > 0 || pairs_ > 0 ? eager_ : std::min(static_cast<double>(guess_), replay_ * kMost);
    const double longer = std::max(eager - replay_, 0.0);
    const double units = eager > static_cast<double>(kLongUnit) ? 1 : expected_units();
    if (!measuring_budget().allows(static_cast<Nanoseconds>(longer * units), now)) {
      block_ = Block::kNone;
      pause(kMillisecond, now);
      return;
    }
    begin(Block::kEager);
    return;
  }
  eager_ = std::max(each - (unit_ == Unit::kCall ? kMark : 0), 1.0);
  compare();
}

// Whether this unit, at the beginning of a block, is left out because it was cold. Of long units only the first
// original one is left out, because the interpreter has not specialised its instructions yet; and only if that may
// decide.
bool MeasuredSpeed::skips(Nanoseconds time, std::int64_t units) {
  const bool is_long = units > 0 && time / units >= kLongUnit;
  const bool is_first = block_ == Block::kEager && trials_ == 0 && pairs_ == 0;
  const bool is_obvious = is_long && static_cast<double>(time) > static_cast<double>(units) * replay_ * kObvious;
  skipped_ = is_long ? std::int8_t{0} : static_cast<std::int8_t>(skipped_ - 1);
  return !is_long || (is_first && !is_obvious);
}

void MeasuredSpeed::compare() {
  const bool is_eager = verdict_ == Verdict::kEager;
  const double longer = is_eager ? replay_ - eager_ : eager_ - replay_;
  lost_ += static_cast<Nanoseconds>(std::max(longer, 0.0) * static_cast<double>(is_eager ? replayed_units_ : units_));
  // Chance only makes a unit longer, so the shortest blocks tell most.
  least_replay_ = pairs_ == 0 ? replay_ : std::min(least_replay_, replay_);
  least_eager_ = pairs_ == 0 ? eager_ : std::min(least_eager_, eager_);
  ++pairs_;
  if (eager_ > replay_ * kMargin) {
    ++votes_;
  } else if (replay_ > eager_ * kMargin) {
    --votes_;
  }
  const bool is_long_unit = replay_ >= static_cast<double>(kLongUnit);
  const bool is_obvious = is_long_unit && votes_ > 0 && least_eager_ > least_replay_ * kObvious;
  const bool is_clear = votes_ > 1 && least_eager_ > least_replay_ * kClear;
  if ((verdict_ != Verdict::kEager && (is_obvious || is_clear)) || (votes_ >= kVotes && least_eager_ > least_replay_)) {
    conclude(Verdict::kReplay);
  } else if (votes_ <= -kVotes && least_replay_ > least_eager_) {
    conclude(Verdict::kEager);
  } else if (pairs_ >= kMostPairs) {
    const bool leans_to_eager = verdict_ == Verdict::kNone ? expects_loss_ : verdict_ == Verdict::kEager;
    const bool is_open = std::max(least_eager_, least_replay_) <= std::min(least_eager_, least_replay_) * kMargin;
    conclude((is_open ? leans_to_eager : least_replay_ > least_eager_) ? Verdict::kEager : Verdict::kReplay);
  } else {
    begin(Block::kReplays);
  }
}

void MeasuredSpeed::conclude(Verdict verdict) {
  constexpr int kMostConfirmed = 10;
  confirmed_ =
      verdict == verdict_ ? static_cast<std::int8_t>(std::min(confirmed_ + 1, kMostConfirmed)) : std::int8_t{0};
  verdict_ = verdict;
  replay_ = least_replay_;
  eager_ = least_eager_;
  block_ = Block::kNone;
  ++trials_;
  measuring_budget().spent(lost_);
  constexpr Nanoseconds kShare = 100;
  const Nanoseconds rest = std::max(2 * kMillisecond, kShare * lost_);
  lost_ = 0;
  votes_ = 0;
  pairs_ = 0;
  pause(rest << confirmed_, clock_now());
}

void MeasuredSpeed::reset() {
  verdict_ = Verdict::kNone;
  confirmed_ = 0;
  cancel();
  due_ = 0;
}

void MeasuredSpeed::request_trials() {
  if (verdict_ == Verdict::kNone && block_ == Block::kNone) {
    due_ = 0;
    asks_ = 1;
  }
  expects_loss_ = true;
}

void MeasuredSpeed::cancel() {
  block_ = Block::kNone;
  votes_ = 0;
  pairs_ = 0;
  measuring_budget().spent(lost_);
  lost_ = 0;
  asks_ = unit_ == Unit::kCall ? kFirstAsks : 1;  // after a round there may be no other for a long time
}

bool MeasuredSpeed::is_due() const { return block_ != Block::kNone || clock_now() >= due_; }

std::int64_t MeasuredSpeed::rounds_until_due() const {
  constexpr std::int64_t kFirst = 16;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (replay_ <= 0) {
    return kFirst;
  }
  const auto left = static_cast<double>(std::max(due_ - clock_now(), kMillisecond));
  return std::clamp(static_cast<std::int64_t>(left / replay_), rounds_between_looks(), kMost);
}

std::int64_t MeasuredSpeed::rounds_between_looks() const {
  return rounds_between_looks(replay_ > 0 ? replay_time() : guess_);
}

std::int64_t MeasuredSpeed::rounds_between_looks(Nanoseconds round) {
  return std::clamp(kMillisecond / std::max(round, Nanoseconds{1}), Nanoseconds{1}, Nanoseconds{64});
}

}  // namespace tagalong::runtime
