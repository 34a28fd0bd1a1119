// From the last block to the first: behind a sweep that went the other way the caches hold what it has left there last.
// Whoever begins at the beginning again drives it out before he comes to it, since the least recently used goes first.
#include <algorithm>

#include "replay/array/region_run.h"

namespace tagalong::array {

namespace {

// Bytes of a row of doubles. Of more the caches hold too little: measured with softmax (two megabytes of cache for one
// processor alone, many for all), 2.4 MB take 0.91 of the time, 8 MB 0.95, 16 to 32 MB 0.8 to 0.9, 80 MB 1.04.
constexpr long kMostTurned = 32L << 20;

}  // namespace

long worth_turning = 256L << 10;

// What is computed of an element, and which sums are added to which, does not depend on what came before. Sums that are
// not pairwise, extremes and places do.
bool RegionPlan::may_go_backwards() const {
  return !is_staged_ && !has_masks_ && folds_.empty() &&
         std::ranges::all_of(reductions_, [](const Reduced& reduced) { return reduced.kernel->is_pairwise; });
}

// Where threads share it, what each has left is not what it gets next. What is written into arrays that are there
// already is often written again, from the same ones: so every other run begins where the one before has ended.
void RegionPlan::choose_direction(Frame* frame, const Space* space, std::size_t parts) const {
  if (space != nullptr) {
    frame->direction = Direction::kForwards;
  }
  if (frame->direction == Direction::kForwards && !frame->is_unnoticed.value_or(false)) [[likely]] {
    return;
  }
  const auto bytes = static_cast<long>(frame->count) * static_cast<long>(kItemSize);
  if (parts > 1 || bytes < worth_turning || bytes > kMostTurned) {
    frame->direction = Direction::kForwards;
    return;
  }
  if (space != nullptr) {
    is_turned_ = !is_turned_;
    frame->direction = is_turned_ ? Direction::kBackwards : Direction::kForwards;
  }
  region_counts.backwards += frame->direction == Direction::kBackwards ? 1 : 0;
}

// The blocks that there would be forwards.
bool RegionPlan::compute_backwards(Frame* frame) const {
  const Extent count = frame->count;
  advance(frame, count);
  for (Extent end = count; end > 0;) {
    Extent begin = (end - 1) / frame->block * frame->block;
    if (end == count && begin > 0 && end - begin < kLeastBlock) {
      begin -= kLeastBlock;
    }
    advance(frame, begin - end);
    if (!compute_next(frame, nullptr, end - begin)) {
      return false;
    }
    advance(frame, begin - end);
    end = begin;
  }
  advance(frame, count);
  return true;
}

// Some rows after others, from the last ones on.
bool RegionPlan::compute_rows_backwards(Frame* frame, Space* space) const {
  Walk& walk = *space->walk;
  const Extent rows = std::max<Extent>(kMostTogether / walk.row(), 1) * walk.row();
  advance(frame, frame->count);
  for (Extent end = frame->count; end > 0;) {
    const Extent begin = (end - 1) / rows * rows;
    advance(frame, begin - end);
    walk.begin();
    walk.advance(begin);
    if (!compute_forwards(frame, space, end - begin, true)) {
      return false;
    }
    advance(frame, begin - end);
    end = begin;
  }
  advance(frame, frame->count);
  return true;
}

}  // namespace tagalong::array
