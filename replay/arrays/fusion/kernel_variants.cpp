#include "replay/arrays/fusion/kernel_variants.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "replay/arrays/simd/non_temporal.h"

namespace tagalong::array {
namespace {

constexpr std::size_t kMostArgmins = 16;
constexpr Extent kMinArgmin = 1 << 18;  // elements for which generating the code pays

// Bytes of an element that are moved from and to memory.
Extent bytes_moved(const FusionPlan& plan) {
  Extent moved = 0;
  for (const auto& [slot, item_size] : plan.rows) {
    moved += item_size;
  }
  for (const PlanOutput& output : plan.outputs) {
    moved += output.descr != nullptr ? Extent{output.item_size} : 0;
  }
  return moved;
}

// Whether moving an element's bytes from and to memory takes longer than computing it. Otherwise non-temporal stores
// are slower, since such a kernel has more steps. The cost table overestimates operations that overlap with others, but
// not functions, which are long.
bool is_bound_by_memory(const FusionPlan& plan) {
  constexpr Extent kBytesOfCost = 6;  // bytes per unit of the cost table, as a fraction
  constexpr Extent kCostOfBytes = 5;
  Extent computed = 0;
  for (const PlanOperation& operation : plan.operations) {
    const Extent cost = fused_cost(operation.vector_op);
    computed += is_function(operation.vector_op) ? 2 * cost : cost;
  }
  return computed * kBytesOfCost <= bytes_moved(plan) * kCostOfBytes;
}

}  // namespace

const VectorCode* KernelVariants::non_temporal(const VectorCode& kernel, bool is_swapped,
                                               std::span<const Slot> stored) {
  Variant& variant = non_temporal_.at(is_swapped ? 1 : 0);
  if (!std::exchange(variant.is_made, true)) {
    variant.code = kernel.with_non_temporal(stored);
  }
  return variant.code.get();
}

const VectorCode* KernelVariants::prefetching(const VectorCode& kernel) {
  if (!std::exchange(prefetching_.is_made, true)) {
    prefetching_.code = kernel.with_prefetch();
  }
  return prefetching_.code.get();
}

const VectorCode* KernelVariants::argmin(const VectorCode& kernel, const Items& items, const VectorArgmin& what,
                                         Extent elements) {
  const auto known =
      std::ranges::find_if(argmins_, [&](const Argmin& made) { return made.row == what.row && made.items == items; });
  if (known != argmins_.end()) {
    return known->code.get();
  }
  argmin_elements_ += elements;
  if (argmins_.size() == kMostArgmins || (argmin_elements_ < kMinArgmin && fusion_enabled <= 1)) {
    return nullptr;
  }
  argmins_.push_back({.code = kernel.argmin({items.data(), items.size()}, what), .row = what.row, .items = items});
  return argmins_.back().code.get();
}

void KernelVariants::append_to(Kernels* kernels) const {
  for (const Variant& variant : non_temporal_) {
    kernels->push_back(variant.code);
  }
  kernels->push_back(prefetching_.code);
  for (const Argmin& argmin : argmins_) {
    kernels->push_back(argmin.code);
  }
}

// Uses non-temporal stores where the group is one fused kernel whose results exceed the caches.
void choose_non_temporal(const FusionPlan& plan, const Space* space, KernelVariants* variants, RunState* state) {
  const auto count = static_cast<std::size_t>(state->count);
  if (!plan.is_fused || plan.is_cut_by_rows() || state->is_reused || plan.steps.front().is_quotient ||
      static_cast<long>(count * plan.item_bytes * (plan.inputs.size() + plan.outputs.size())) < min_non_temporal)
      [[likely]] {
    return;
  }
  const auto is_read_again = [&](Slot slot) {
    const auto is_axis_reduction = [&](const PlanAxisReduction& axis_reduction) { return axis_reduction.slot == slot; };
    const auto is_reduced = [&](const PlanReduction& reduced) {
      return reduced.slot == slot && !(slot == plan.sum.result && reduced.kernel->has_known_order);
    };
    return std::ranges::any_of(plan.axis_reductions, is_axis_reduction) ||
           std::ranges::any_of(plan.reductions, is_reduced);
  };
  std::size_t item_sizes = 0;  // of the results written past the caches
  for (const PlanOutput& output : plan.outputs) {
    if (output.descr == nullptr || output.type == kBool || output.is_column || is_read_again(output.slot)) {
      continue;
    }
    const bool is_scattered = space != nullptr && std::ranges::find(space->scattered, output.slot,
                                                                    &Space::Port::slot) != space->scattered.end();
    if (is_scattered || !is_resident(state->data[output.slot], count * output.item_size)) {
      return;
    }
    item_sizes += output.item_size;
    state->non_temporal.push_back(output.slot);
  }
  const auto written = static_cast<long>(count * item_sizes);
  const auto moved = static_cast<long>(count) * bytes_moved(plan);
  const bool are_too_large = written >= min_non_temporal || moved >= min_non_temporal + min_non_temporal / 2;
  const VectorCode* const kernel = plan.steps.front().code_for(state->swapped);
  if (state->non_temporal.empty() || !are_too_large || !is_bound_by_memory(plan) || kernel == nullptr) {
    return;
  }
  state->with_non_temporal = variants->non_temporal(*kernel, kernel != plan.steps.front().code.get(),
                                                    {state->non_temporal.data(), state->non_temporal.size()});
}

// Software prefetch for functions whose results are summed. The hardware prefetcher stops at the end of each page, so
// such a loop waits for memory at every page. A loop with little computation that writes through the caches is bound by
// bandwidth, and prefetching does not help.
void choose_prefetching(const FusionPlan& plan, const Space* space, KernelVariants* variants, RunState* state) {
  if (state->with_non_temporal != nullptr || space != nullptr || !plan.is_fused || plan.is_cut_by_rows() ||
      plan.sum.result < 0 || plan.steps.front().is_quotient || !plan.steps.front().swappable.empty() ||
      static_cast<long>(state->count) * static_cast<long>(plan.item_bytes) < min_prefetch) [[likely]] {
    return;
  }
  const bool has_functions = std::ranges::any_of(
      plan.operations, [](const PlanOperation& operation) { return is_function(operation.vector_op); });
  state->with_prefetch = has_functions ? variants->prefetching(*plan.steps.front().code) : nullptr;
}

bool may_store_non_temporal(const RunState& state) {
  return std::ranges::all_of(state.non_temporal, [&](Slot slot) {
    return reinterpret_cast<std::uintptr_t>(state.data[slot]) % VectorCode::kNonTemporalBytes == 0;
  });
}

}  // namespace tagalong::array
