// From the last block to the first: behind a sweep that went the other way the caches hold what it has left there last.
// Whoever begins at the beginning again drives it out before he comes to it, since the least recently used goes first.
#include <algorithm>

#include "replay/arrays/fusion/plan_run.h"

namespace tagalong::array {

namespace {

// Bytes of a row of doubles. Of more the caches hold too little: measured with softmax (two megabytes of cache for one
// processor alone, many for all), 2.4 MB take 0.91 of the time, 8 MB 0.95, 16 to 32 MB 0.8 to 0.9, 80 MB 1.04.
constexpr long kMostTurned = 32L << 20;

}  // namespace

long worth_turning = 256L << 10;

// What is computed of an element, and which sums are added to which, does not depend on what came before. Sums that are
// not pairwise, extremes and places do.
bool FusionPlan::may_go_backwards() const {
  return !is_staged_ && !has_masks_ && axis_reductions_.empty() &&
         std::ranges::all_of(reductions_, [](const Reduced& reduced) { return reduced.kernel->is_pairwise; });
}

// Where threads share it, what each has left is not what it gets next. What is written into arrays that are there
// already is often written again, from the same ones: so every other run begins where the one before has ended.
void FusionPlan::choose_direction(Frame* frame, const Space* space, std::size_t parts) const {
  const bool may_turn =
      space == nullptr ? frame->direction == Direction::kBackwards : frame->is_unnoticed.value_or(false);
  const auto bytes = static_cast<long>(frame->count) * static_cast<long>(kItemSize);
  if (!may_turn || parts > 1 || bytes < worth_turning || bytes > kMostTurned) [[likely]] {
    frame->direction = Direction::kForwards;
  } else if (space != nullptr) {
    is_turned_ = !is_turned_;
    frame->direction = is_turned_ ? Direction::kBackwards : Direction::kForwards;
  }
}

// The blocks that there would be forwards, or of a space some rows after others.
bool FusionPlan::compute_backwards(Frame* frame, Space* space) const {
  fusion_counts.backwards.add();
  const Extent count = frame->count;
  const Extent row = space == nullptr ? frame->block : space->walk->row();
  const Extent piece = space == nullptr ? row : std::max<Extent>(kMostTogether / row, 1) * row;
  advance(frame, count);
  for (Extent end = count; end > 0;) {
    Extent begin = (end - 1) / piece * piece;
    if (space == nullptr && end == count && begin > 0 && end - begin < kLeastBlock) {
      begin -= kLeastBlock;
    }
    advance(frame, begin - end);
    if (space != nullptr) {
      space->walk->begin();
      space->walk->advance(begin);
    }
    if (!compute_forwards(frame, space, end - begin, space != nullptr)) {
      return false;
    }
    advance(frame, begin - end);
    end = begin;
  }
  advance(frame, count);
  return true;
}

}  // namespace tagalong::array
