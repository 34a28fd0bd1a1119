#include <algorithm>
#include <cstdint>
#include <utility>

#include "replay/arrays/fusion/region_run.h"
#include "replay/arrays/simd/streaming.h"

namespace tagalong::array {

void RegionPlan::begin_streaming(Frame* frame, const Space* space) const {
  const auto count = static_cast<std::size_t>(frame->count);
  if (!is_joined_ || is_staged_ || frame->is_donated || steps_.front().is_quotient ||
      static_cast<long>(count * kItemSize * (inputs_.size() + outputs_.size())) < worth_streaming) [[likely]] {
    return;
  }
  const auto is_read_again = [&](Slot slot) {
    const auto is_folded = [&](const Folded& fold) { return fold.slot == slot; };
    const auto is_reduced = [&](const Reduced& reduced) {
      return reduced.slot == slot && !(slot == sum_.result && reduced.kernel->has_known_order);
    };
    return std::ranges::any_of(folds_, is_folded) || std::ranges::any_of(reductions_, is_reduced);
  };
  for (const Output& output : outputs_) {
    if (output.descr == nullptr || output.type != kDouble || output.is_column || is_read_again(output.slot)) {
      continue;
    }
    const bool is_scattered = space != nullptr && std::ranges::find(space->scattered, output.slot,
                                                                    &Space::Port::slot) != space->scattered.end();
    if (is_scattered || !is_resident(frame->data[output.slot], count * kItemSize)) {
      return;
    }
    frame->streamed.push_back(output.slot);
  }
  const auto written = static_cast<long>(count * kItemSize * frame->streamed.size());
  const auto moved = static_cast<long>(count) * bytes_moved();
  const bool are_too_large = written >= worth_streaming || moved >= worth_streaming + worth_streaming / 2;
  if (frame->streamed.empty() || !are_too_large || !is_bound_by_memory()) {
    return;
  }
  if (!is_streaming_made_) {
    is_streaming_made_ = true;
    streaming_ = steps_.front().code->streaming({frame->streamed.data(), frame->streamed.size()});
  }
  frame->streaming = streaming_.get();
}

// What functions are computed of, and is summed, waits for memory beside the caches that are near: there the processor
// asks itself only for what lies in the same page. Whoever reads pages of four kilobytes waits for each of them to be
// found; where a loop does little else and writes through the caches, it waits for the bytes, and nothing helps.
void RegionPlan::begin_asking(Frame* frame, const Space* space) const {
  if (frame->streaming != nullptr || space != nullptr || !is_joined_ || is_staged_ || sum_.result < 0 ||
      steps_.front().is_quotient || static_cast<long>(frame->count) * static_cast<long>(kItemSize) < worth_asking)
      [[likely]] {
    return;
  }
  const bool has_functions =
      std::ranges::any_of(operations_, [](const Operation& operation) { return is_function(operation.exact); });
  if (has_functions && !std::exchange(is_asking_made_, true)) {
    asking_ = steps_.front().code->asking_ahead();
  }
  frame->asking = asking_.get();
}

// Whether the bytes of an element, as long as they take from and to memory, are more than its operations: otherwise
// these would be slower, for what is written so is written in more steps. The table takes much for some that are hidden
// behind others, except for functions, which are long.
bool RegionPlan::is_bound_by_memory() const {
  constexpr Extent kBytesOfCost = 6;  // 40 GB/s, of halves of sixteenths of nanoseconds
  constexpr Extent kCostOfBytes = 5;
  Extent computed = 0;
  for (const Operation& operation : operations_) {
    const Extent cost = joined_cost(operation.exact);
    computed += is_function(operation.exact) ? 2 * cost : cost;
  }
  return computed * kBytesOfCost <= bytes_moved() * kCostOfBytes;
}

// From and to memory, of an element.
Extent RegionPlan::bytes_moved() const {
  Extent moved = 0;
  for (const auto& [slot, item_size] : rows_) {
    moved += item_size;
  }
  for (const Output& output : outputs_) {
    moved += output.descr != nullptr ? Extent{output.item_size} : 0;
  }
  return moved;
}

bool RegionPlan::may_stream(const Frame& frame) {
  return std::ranges::all_of(frame.streamed, [&](Slot slot) {
    return reinterpret_cast<std::uintptr_t>(frame.data[slot]) % ExactCode::kStreamedBytes == 0;
  });
}

}  // namespace tagalong::array
