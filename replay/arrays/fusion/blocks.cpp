#include "replay/arrays/fusion/blocks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "replay/arrays/fusion/kernel_variants.h"
#include "replay/arrays/simd/broadcast.h"
#include "replay/arrays/simd/nans.h"
#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {
namespace {

constexpr Extent kLongQuotients = 128;  // elements

}  // namespace

bool takes_long_blocks(const FusionPlan& plan, const Space* space) {
  return plan.is_fused && plan.is_elementwise() && space == nullptr;
}

void advance(const FusionPlan& plan, Extent count, RunState* state) {
  for (const PlanInput& input : plan.inputs) {
    state->data[input.slot] += count * state->strides[input.slot];
  }
  for (const PlanOutput& output : plan.outputs) {
    if (output.descr != nullptr) {
      state->data[output.slot] += (output.is_column ? count / state->row : count) * state->strides[output.slot];
    }
  }
  for (const PlanTarget& target : plan.targets) {
    state->data[target.slot] += count * state->strides[target.slot];
  }
}

// False: the loop has set an exception.
bool BlockComputation::compute_operation(std::size_t number, Extent count) {
  const PlanOperation& operation = plan_.operations[number];
  if (operation.extent >= OperationExtent::kAxisReduction) [[unlikely]] {
    return !plan_.is_cut_by_rows() || compute_by_rows(operation, count);
  }
  std::array<char*, kMaxInputs + 1> data{};
  std::array<Extent, kMaxInputs + 1> strides{};
  for (unsigned i = 0; i <= operation.nin; ++i) {
    const Slot slot = operation.slots[i];
    data[i] = state_.data[slot];
    strides[i] = state_.strides[slot];
  }
  if (state_.swapped[number]) [[unlikely]] {
    std::swap(data[0], data[1]);
    std::swap(strides[0], strides[1]);
  }
  if (operation.collects && float_status_raised(plan_.float_units)) [[unlikely]] {
    state_.errors |= take_float_status(plan_.float_units);
  }
  if (operation.is_masked) [[unlikely]] {
    return compute_masked(operation, data.data(), strides.data(), count);
  }
  const Extent elements = operation.extent == OperationExtent::kColumn ? count / state_.row : count;
  return operation.loop(operation.context, data.data(), &elements, strides.data(), operation.auxdata) == 0;
}

// The loop gets one run of selected elements after another, so that other elements raise no flags.
bool BlockComputation::compute_masked(const PlanOperation& operation, char** data, const Extent* strides,
                                      Extent count) {
  const unsigned nin = operation.nin - 2U;
  const char* where = data[nin];
  char* out = data[nin + 2];
  const Extent step = strides[nin + 2];
  for (Extent i = 0; i < count; ++i) {
    std::memcpy(out + i * step, data[nin + 1] + i * strides[nin + 1], operation.out_size);
  }
  for (Extent i = 0; i < count;) {
    const Extent begin = i;
    const bool is_computed = where[i * strides[nin]] != 0;
    while (i < count && (where[i * strides[nin]] != 0) == is_computed) {
      ++i;
    }
    if (!is_computed) {
      continue;
    }
    std::array<char*, kMaxInputs + 1> places{};
    std::array<Extent, kMaxInputs + 1> steps{};
    for (unsigned operand = 0; operand < nin; ++operand) {
      places.at(operand) = data[operand] + begin * strides[operand];
      steps.at(operand) = strides[operand];
    }
    places.at(nin) = out + begin * step;
    steps.at(nin) = step;
    const Extent elements = i - begin;
    if (operation.loop(operation.context, places.data(), &elements, steps.data(), operation.auxdata) != 0) {
      return false;
    }
  }
  return true;
}

// Reduces the rows of a block to a column, or repeats each element of a column for its row.
bool BlockComputation::compute_by_rows(const PlanOperation& operation, Extent count) {
  const Extent row = state_.row;
  const Extent rows = count / row;
  const char* from = state_.data[operation.slots[0]];
  const Extent stride = state_.strides[operation.slots[0]];
  char* to = state_.data[operation.slots[1]];
  if (operation.extent == OperationExtent::kBroadcast) {
    if (broadcast(from, stride, operation.out_size, row, rows, to)) {
      return true;
    }
    for (Extent i = 0; i < rows; ++i) {
      fill_row(from + i * stride, operation.out_size, row, to + i * row * operation.out_size);
    }
    return true;
  }
  const PlanAxisReduction& axis_reduced = plan_.axis_reductions[static_cast<std::size_t>(operation.axis_reduction)];
  state_.errors |= collect_float_status(plan_.float_units);
  if (!reduce_axis_rows(*axis_reduced.kernel, axis_reduced.reduction, from, stride, row, rows, to)) {
    return false;
  }
  state_.is_refused |= !finish_rows(*axis_reduced.kernel, axis_reduced.reduction, row, rows, axis_reduced.end, to);
  return true;
}

BlockComputation::Outcome BlockComputation::compute_steps(Extent count) {
  for (const auto& [slot, item_size] : plan_.rows) {
    if (state_.strides[slot] != item_size) {
      return Outcome::kOpen;
    }
  }
  if (plan_.sum.result >= 0) {
    state_.leaves.cut(count);
    state_.data[static_cast<std::size_t>(plan_.sum.leaves)] = reinterpret_cast<char*>(state_.leaves.begin());
  }
  for (const PlanStep& step : plan_.steps) {
    if (step.code == nullptr || (step.is_quotient && count >= kLongQuotients)) {
      if (!compute_operation(step.operation, count)) [[unlikely]] {
        return Outcome::kFailed;
      }
    } else if (state_.with_non_temporal != nullptr && may_store_non_temporal(state_)) [[unlikely]] {
      fusion_counts.non_temporal.add();
      if (!state_.with_non_temporal->run(state_.data.data(), count)) {
        return Outcome::kOpen;
      }
    } else {
      const VectorCode* own = step.code_for(state_.swapped);
      if (own == nullptr) [[unlikely]] {
        return Outcome::kOpen;
      }
      const VectorCode& code = state_.with_prefetch == nullptr ? *own : *state_.with_prefetch;
      if (state_.with_prefetch != nullptr) {
        fusion_counts.prefetched.add();
      }
      if (!code.run(state_.data.data(), count)) [[unlikely]] {
        return Outcome::kOpen;
      }
    }
  }
  return Outcome::kDone;
}

bool BlockComputation::compute(Extent count) {
  if (!plan_.steps.empty() && !state_.is_one_by_one) {
    const Outcome outcome = compute_steps(count);
    if (outcome != Outcome::kOpen) [[likely]] {
      return outcome == Outcome::kDone;
    }
    if (state_.is_reused) {
      return false;
    }
    state_.is_one_by_one = true;
    if (plan_.is_tree() && count > kBlock) {
      return false;
    }
  }
  return compute_one_by_one(count);
}

// The blocks of temporaries have no more elements than an ordinary block.
bool BlockComputation::compute_one_by_one(Extent count) {
  if (count > kBlock && takes_long_blocks(plan_, nullptr)) [[unlikely]] {
    const SlotPointers begin = state_.data;
    bool is_done = true;
    for (Extent left = count; is_done && left > 0;) {
      const Extent most = std::min(left, kBlock);
      const Extent part = left > most && left - most < kMinBlock ? most - kMinBlock : most;
      is_done = compute_one_by_one(part);
      advance(plan_, part, &state_);
      left -= part;
    }
    state_.data = begin;
    return is_done;
  }
  for (std::size_t number = 0; number < plan_.operations.size(); ++number) {
    if (!compute_operation(number, count)) [[unlikely]] {
      return false;
    }
  }
  return true;
}

bool BlockComputation::has_nans(Extent count) const {
  if (plan_.stores_no_nans && !state_.is_one_by_one) {
    return false;  // the steps would have bailed out
  }
  const auto is_found = [&](Slot slot, unsigned type, Extent elements) {
    return has_nan(type, state_.data[slot], state_.strides[slot], elements);
  };
  return std::ranges::any_of(plan_.outputs,
                             [&](const PlanOutput& output) {
                               return output.descr != nullptr &&
                                      is_found(output.slot, output.type, output.is_column ? count / state_.row : count);
                             }) ||
         std::ranges::any_of(plan_.targets,
                             [&](const PlanTarget& target) { return is_found(target.slot, target.type, count); });
}

// Each block's pairwise sum begins anew: the reduction tree of the blocks adds them.
bool BlockComputation::reduce(Extent count) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const PlanReduction& reduced = plan_.reductions[i];
    const ReductionKernel& kernel = *reduced.kernel;
    Accumulator& accumulator = state_.reduced[i];
    if (reduced.slot == plan_.sum.result && kernel.has_known_order && !state_.is_one_by_one) {
      const double sum = -0.0 + state_.leaves.sum();
      fusion_counts.fused_sums.add();
      std::memcpy(accumulator.bytes, &sum, sizeof(sum));
      continue;
    }
    char* data = state_.data[reduced.slot];
    const Extent stride = state_.strides[reduced.slot];
    Extent left = count;
    if (kernel.is_pairwise) {
      begin_leaf(kernel, &accumulator);
    } else if (!state_.is_begun && begins_with_element(reduced.reduction)) {
      std::memcpy(accumulator.bytes, data, kernel.item_size);
      data += stride;
      --left;
    } else if (!state_.is_begun) {
      begin(kernel, reduced.reduction, &accumulator);
    }
    state_.errors |= collect_float_status(plan_.float_units);
    const std::array<char*, 3> places{accumulator.bytes, data, accumulator.bytes};
    const std::array<Extent, 3> strides{0, stride, 0};
    if (left > 0 && kernel.whole(kernel.context, places.data(), &left, strides.data(), kernel.auxdata) != 0) {
      return false;
    }
  }
  state_.is_begun = true;
  return true;
}

// Parts of a row that is longer than a block are summed separately; the reduction tree of the row adds them.
bool BlockComputation::reduce_axes(Extent count) {
  AxisReductions& axis_reductions = *state_.axis_reductions;
  for (std::size_t i = 0; i < plan_.axis_reductions.size(); ++i) {
    const PlanAxisReduction& axis_reduced = plan_.axis_reductions[i];
    const ReductionKernel& kernel = *axis_reduced.kernel;
    state_.errors |= collect_float_status(plan_.float_units);
    char* data = state_.data[axis_reduced.slot];
    const Extent stride = state_.strides[axis_reduced.slot];
    if (axis_reductions.row <= kBlock || !kernel.is_pairwise || axis_reductions.of[i].row() == 0) {
      if (!axis_reductions.of[i].take(kernel, axis_reduced.reduction, data, stride, count)) {
        return false;
      }
      continue;
    }
    begin_leaf(kernel, &axis_reductions.sums[i]);
    char* sum = axis_reductions.sums[i].bytes;
    const std::array<char*, 3> places{sum, data, sum};
    const std::array<Extent, 3> strides{0, stride, 0};
    if (kernel.loop(kernel.context, places.data(), &count, strides.data(), kernel.auxdata) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace tagalong::array
