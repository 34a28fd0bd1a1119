#include "replay/arrays/planning/plan_memory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace tagalong::array {
namespace {

constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

using LastUses = std::array<std::size_t, kMaxFusionSlots>;  // by slot: the number of an operation

// Whether a result may be written where an input is. That needs a single fused kernel; where it bails out, the run is
// repeated with new memory.
bool may_reuse(const FusionPlan& plan) {
  if (plan.steps.size() != 1 || plan.steps.front().code == nullptr) {
    return false;
  }
  const PlanStep& step = plan.steps.front();
  return step.is_quotient || !step.code->may_run_twice();
}

// The last operation that uses each slot.
LastUses last_uses(const FusionPlan& plan) {
  LastUses last_use{};
  for (std::size_t number = 0; number < plan.operations.size(); ++number) {
    for (unsigned i = 0; i <= plan.operations[number].nin; ++i) {
      last_use.at(plan.operations[number].slots[i]) = number;
    }
  }
  for (const PlanReduction& reduced : plan.reductions) {
    last_use.at(reduced.slot) = plan.operations.size();  // the reductions come behind all operations of a block
  }
  for (std::size_t i = 0; i < plan.axis_reductions.size() && !plan.is_cut_by_rows(); ++i) {
    last_use.at(plan.axis_reductions[i].slot) = plan.operations.size();
  }
  return last_use;
}

// The last operation that reads the memory of each slot: a cast of an input lives as long as the input is read.
LastUses last_reads(const FusionPlan& plan) {
  LastUses last_use = last_uses(plan);
  for (std::size_t number = plan.operations.size(); number-- > 0;) {
    if (plan.operations[number].is_cast) {
      std::size_t& source = last_use.at(plan.operations[number].slots[0]);
      source = std::max(source, last_use.at(plan.operations[number].slots[1]));
    }
  }
  return last_use;
}

// Marks the inputs of the plan that are read after a target has been written.
void find_later_inputs(FusionPlan* plan) {
  const LastUses last_read = last_reads(*plan);
  for (PlanTarget& target : plan->targets) {
    for (std::size_t i = 0; i < plan->inputs.size(); ++i) {
      if (last_read.at(plan->inputs[i].slot) > target.written) {
        target.later |= std::uint64_t{1} << i;
      }
    }
  }
}

}  // namespace

void choose_reused_buffer(const Numpy& np, std::span<const int> candidates, FusionPlan* plan) {
  if (!may_reuse(*plan)) {
    return;
  }
  const LastUses last_read = last_reads(*plan);
  const auto maker_of = [&](Slot slot) {
    return static_cast<std::size_t>(std::ranges::find(plan->operations, slot, &PlanOperation::out) -
                                    plan->operations.begin());
  };
  for (const int external : candidates) {
    const auto input = std::ranges::find_if(
        plan->inputs, [&](const PlanInput& known) { return known.external == external && known.view < 0; });
    // Kernels of complex numbers use many registers, so they may load an operand again behind the first store.
    if (input == plan->inputs.end() || is_complex(input->type)) {
      continue;
    }
    // The kernel stores a result where it computes it, and may read another result's operands afterwards.
    const auto output = std::ranges::find_if(plan->outputs, [&](const PlanOutput& known) {
      return known.descr == np.descr[input->type] && !known.is_column &&
             last_read.at(input->slot) <= maker_of(known.slot);
    });
    if (output != plan->outputs.end()) {
      plan->reused_buffer = {.output = static_cast<std::int16_t>(output - plan->outputs.begin()),
                             .external = static_cast<std::uint16_t>(external)};
      return;
    }
  }
}

void add_costs(FusionPlan* plan) {
  const bool is_fused = !plan->steps.empty();
  plan->cost = static_cast<Extent>(plan->reductions.size() * kReductionCost);
  for (const PlanOperation& operation : plan->operations) {
    plan->cost += is_fused && operation.vector_op != VectorOp::kNone ? fused_cost(operation.vector_op) : operation.cost;
  }
}

void remove_unread(FusionPlan* plan) {
  SlotSet is_read{};
  for (const PlanOperation& operation : plan->operations) {
    for (unsigned i = 0; i < operation.nin; ++i) {
      is_read.at(operation.slots[i]) = true;
    }
  }
  for (const PlanReduction& reduced : plan->reductions) {
    is_read.at(reduced.slot) = true;
  }
  for (const PlanAxisReduction& axis_reduced : plan->axis_reductions) {
    is_read.at(axis_reduced.slot) = true;
  }
  std::erase_if(plan->scalars, [&](const PlanScalar& scalar) { return !is_read.at(scalar.slot); });
  std::erase_if(plan->inputs, [&](const PlanInput& input) { return !is_read.at(input.slot); });
}

void assign_temporaries(const KernelFusion::Steps& steps, FusionPlan* plan) {
  const LastUses last_use = last_uses(*plan);
  LastUses last_step{};  // of slots that are in memory while steps are computed
  // A block, and the first step that may write it.
  struct Buffer {
    std::uint16_t number;
    std::size_t step;
  };
  std::array<std::optional<Buffer>, kMaxFusionSlots> buffers{};
  SlotSet has_memory{};
  for (const PlanOutput& output : plan->outputs) {
    has_memory.at(output.slot) = true;
  }
  for (const PlanTarget& target : plan->targets) {
    has_memory.at(target.slot) = true;
  }
  const std::vector<PlanOperation>& operations = plan->operations;
  for (std::size_t number = 0; number < operations.size(); ++number) {
    for (unsigned i = 0; i <= operations[number].nin; ++i) {
      const Slot slot = operations[number].slots[i];
      last_step.at(slot) = steps.of.empty() ? 0 : std::max(last_step.at(slot), steps.of[number]);
    }
  }
  for (PlanStep& step : plan->steps) {
    const PlanOperation& operation = operations[step.operation];
    step.is_quotient = step.is_quotient && has_memory.at(operation.out());  // long blocks have no buffers
  }
  std::vector<Buffer> free;
  // The block that became free last, of those that the step may write.
  const auto take = [&](std::size_t step) {
    for (auto buffer = free.end(); buffer != free.begin();) {
      --buffer;
      if (buffer->step <= step) {
        const Buffer taken = *buffer;
        free.erase(buffer);
        return taken;
      }
    }
    return Buffer{.number = plan->buffers++, .step = 0};
  };
  for (std::size_t number = 0; number < operations.size(); ++number) {
    const PlanOperation& operation = operations[number];
    const Slot out = operation.out();
    if (!has_memory.at(out) && (plan->is_cut_by_rows() || operation.extent != OperationExtent::kAxisReduction)) {
      const bool is_in_memory = steps.in_memory.at(out);
      Buffer buffer = take(is_in_memory ? steps.of[number] : kNoStep);
      buffer.step = is_in_memory ? last_step.at(out) + 1 : buffer.step;
      buffers.at(out) = buffer;
      plan->temporaries.push_back({.slot = out, .item_size = operation.out_size, .buffer = buffer.number});
    }
    for (unsigned i = 0; i <= operation.nin; ++i) {
      const Slot slot = operation.slots[i];
      if (buffers.at(slot) && last_use.at(slot) == number) {
        free.push_back(*std::exchange(buffers.at(slot), std::nullopt));
      }
    }
  }
  find_later_inputs(plan);
}

void record_item_sizes(const Numpy& np, FusionPlan* plan) {
  std::vector<Extent>& sizes = plan->item_sizes;
  sizes.assign(plan->slots, 0);
  for (const PlanInput& input : plan->inputs) {
    sizes[input.slot] = np.item_size[input.type];
  }
  for (const PlanOperation& operation : plan->operations) {
    sizes[operation.out()] = operation.out_size;
  }
}

}  // namespace tagalong::array
