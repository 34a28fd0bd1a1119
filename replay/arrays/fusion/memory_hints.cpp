#include <algorithm>
#include <cstdint>
#include <utility>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/simd/non_temporal.h"

namespace tagalong::array {

// Uses non-temporal stores where the group is one fused kernel whose results exceed the caches.
void FusionPlan::begin_non_temporal(Frame* frame, const Space* space) const {
  const auto count = static_cast<std::size_t>(frame->count);
  if (!is_fused_ || is_staged_ || frame->is_reused || steps_.front().is_quotient ||
      static_cast<long>(count * kItemSize * (inputs_.size() + outputs_.size())) < min_non_temporal) [[likely]] {
    return;
  }
  const auto is_read_again = [&](Slot slot) {
    const auto is_axis_reduction = [&](const AxisReduction& axis_reduction) { return axis_reduction.slot == slot; };
    const auto is_reduced = [&](const Reduced& reduced) {
      return reduced.slot == slot && !(slot == sum_.result && reduced.kernel->has_known_order);
    };
    return std::ranges::any_of(axis_reductions_, is_axis_reduction) || std::ranges::any_of(reductions_, is_reduced);
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
    frame->non_temporal.push_back(output.slot);
  }
  const auto written = static_cast<long>(count * kItemSize * frame->non_temporal.size());
  const auto moved = static_cast<long>(count) * bytes_moved();
  const bool are_too_large = written >= min_non_temporal || moved >= min_non_temporal + min_non_temporal / 2;
  if (frame->non_temporal.empty() || !are_too_large || !is_bound_by_memory()) {
    return;
  }
  if (!is_non_temporal_made_) {
    is_non_temporal_made_ = true;
    with_non_temporal_ =
        steps_.front().code->with_non_temporal({frame->non_temporal.data(), frame->non_temporal.size()});
  }
  frame->with_non_temporal = with_non_temporal_.get();
}

// Software prefetch for functions whose results are summed. The hardware prefetcher stops at the end of each page, so
// such a loop waits for memory at every page. A loop with little computation that writes through the caches is bound by
// bandwidth, and prefetching does not help.
void FusionPlan::begin_prefetching(Frame* frame, const Space* space) const {
  if (frame->with_non_temporal != nullptr || space != nullptr || !is_fused_ || is_staged_ || sum_.result < 0 ||
      steps_.front().is_quotient || static_cast<long>(frame->count) * static_cast<long>(kItemSize) < min_prefetch)
      [[likely]] {
    return;
  }
  const bool has_functions =
      std::ranges::any_of(operations_, [](const Operation& operation) { return is_function(operation.vector_op); });
  if (has_functions && !std::exchange(is_with_prefetch_made_, true)) {
    with_prefetch_ = steps_.front().code->with_prefetch();
  }
  frame->with_prefetch = with_prefetch_.get();
}

// Whether moving an element's bytes from and to memory takes longer than computing it. Otherwise non-temporal stores
// are slower, since such a kernel has more steps. The cost table overestimates operations that overlap with others, but
// not functions, which are long.
bool FusionPlan::is_bound_by_memory() const {
  constexpr Extent kBytesOfCost = 6;  // bytes per unit of the cost table, as a fraction
  constexpr Extent kCostOfBytes = 5;
  Extent computed = 0;
  for (const Operation& operation : operations_) {
    const Extent cost = fused_cost(operation.vector_op);
    computed += is_function(operation.vector_op) ? 2 * cost : cost;
  }
  return computed * kBytesOfCost <= bytes_moved() * kCostOfBytes;
}

// Bytes of an element that are moved from and to memory.
Extent FusionPlan::bytes_moved() const {
  Extent moved = 0;
  for (const auto& [slot, item_size] : rows_) {
    moved += item_size;
  }
  for (const Output& output : outputs_) {
    moved += output.descr != nullptr ? Extent{output.item_size} : 0;
  }
  return moved;
}

bool FusionPlan::may_store_non_temporal(const Frame& frame) {
  return std::ranges::all_of(frame.non_temporal, [&](Slot slot) {
    return reinterpret_cast<std::uintptr_t>(frame.data[slot]) % VectorCode::kNonTemporalBytes == 0;
  });
}

}  // namespace tagalong::array
