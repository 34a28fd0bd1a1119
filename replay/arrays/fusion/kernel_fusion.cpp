// Kernel fusion: which operations of a fusion group become one vector loop, and in which memory the other operations
// find their operands.
#include <algorithm>
#include <utility>

#include "replay/arrays/fusion/plan_builder.h"
#include "replay/codegen/vector/reduction_leaves.h"

namespace tagalong::array {
// The pairwise sum that the kernel of these operations can compute, too; empty: there is none.
VectorSum FusionPlanBuilder::fused_sum(std::span<const VectorOperation> operations) {
  for (const PlanReduction& reduced : plan_->reductions) {
    const bool is_computed_here =
        std::ranges::find(operations, reduced.slot, &VectorOperation::out) != operations.end();
    if (reduced.kernel->has_known_order && is_computed_here && plan_->sum.result < 0) {
      const int leaves = new_slot();
      return leaves < 0 ? VectorSum() : VectorSum{.result = reduced.slot, .leaves = leaves};
    }
  }
  return {};
}

// Alternates: first all operations that vector code can compute by now become one kernel, then come operations with
// NumPy's loops.
void FusionPlanBuilder::fuse_vector_code(FusedCode* fused) {
  const std::vector<PlanOperation>& operations = plan_->operations;
  const std::size_t count = operations.size();
  if (vector_lanes() == 0) {
    return;
  }
  std::array<bool, kMaxFusionSlots> is_scalar{};
  for (const PlanScalar& scalar : plan_->scalars) {
    is_scalar.at(scalar.slot) = true;
  }
  for (const PlanConstant& constant : plan_->constants) {
    is_scalar.at(constant.slot) = true;
  }
  const auto takes_bool = [](VectorOp what, unsigned operand) {
    return what == VectorOp::kAnd || what == VectorOp::kOr || what == VectorOp::kNot ||
           (what == VectorOp::kSelect && operand == 0);
  };
  // A vector of doubles holds an eighth of the bools that NumPy's loops take at a time. So logical operations are fused
  // only where their operands are comparisons of doubles, in registers.
  std::array<bool, kMaxFusionSlots> is_mask{};
  const auto is_logic = [](VectorOp what) {
    return what == VectorOp::kAnd || what == VectorOp::kOr || what == VectorOp::kNot;
  };
  for (const PlanOperation& operation : operations) {
    const auto* end = operation.slots.begin() + operation.nin;
    is_mask.at(*end) = is_bool(operation.vector_op) &&
                       (!is_logic(operation.vector_op) ||
                        std::any_of(operation.slots.begin(), end, [&](Slot slot) { return is_mask.at(slot); }));
  }
  const auto is_exact = [&](const PlanOperation& operation) {
    if (is_logic(operation.vector_op) && !is_mask.at(operation.slots[operation.nin])) {
      return false;
    }
    for (unsigned i = 0; i < operation.nin; ++i) {
      if (takes_bool(operation.vector_op, i) && is_scalar.at(operation.slots[i])) {
        return false;
      }
    }
    return operation.vector_op != VectorOp::kNone;
  };
  // Slots whose values exist at this point of the order.
  std::array<bool, kMaxFusionSlots> exists_yet{};
  exists_yet.fill(true);
  for (const PlanOperation& operation : operations) {
    exists_yet.at(operation.slots[operation.nin]) = false;
  }
  std::vector<bool> is_done(count);
  const auto has_operands = [&](std::size_t number) {
    const PlanOperation& operation = operations[number];
    return !is_done[number] && std::all_of(operation.slots.begin(), operation.slots.begin() + operation.nin,
                                           [&](Slot slot) { return exists_yet.at(slot); });
  };
  const auto finish = [&](std::size_t number) {
    is_done[number] = true;
    exists_yet.at(operations[number].slots[operations[number].nin]) = true;
  };
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t left = count; left > 0;) {
    std::vector<std::size_t> fusable;
    for (std::size_t number = 0; number < count; ++number) {
      if (is_exact(operations[number]) && has_operands(number)) {
        fusable.push_back(number);
        finish(number);
      }
    }
    left -= fusable.size();
    if (!fusable.empty()) {
      groups.push_back(std::move(fusable));
    }
    for (std::size_t number = 0; number < count; ++number) {
      if (!is_exact(operations[number]) && has_operands(number)) {
        groups.push_back({number});
        finish(number);
        --left;
      }
    }
  }
  std::array<bool, kMaxFusionSlots> is_visible{};  // by other code than operations
  for (const PlanOutput& output : plan_->outputs) {
    is_visible.at(output.slot) = is_visible.at(output.slot) || (output.reduction < 0 && output.axis_reduction < 0);
  }
  for (const PlanTarget& target : plan_->targets) {
    is_visible.at(target.slot) = true;
  }
  for (const PlanAxisReduction& axis_reduction : plan_->axis_reductions) {
    is_visible.at(axis_reduction.slot) = true;
  }
  // Whether the slot is read from memory outside the group (with `is_summed`: apart from the group's own sum).
  const auto is_read_elsewhere = [&](const std::vector<std::size_t>& group, Slot slot, bool is_summed) {
    const auto reduces = [&](const PlanReduction& reduced) {
      return reduced.slot == slot && !(is_summed && reduced.kernel->has_known_order);
    };
    bool is_operand = false;
    for (std::size_t number = 0; number < count && !is_operand; ++number) {
      const auto* begin = operations[number].slots.begin();
      const auto* end = begin + operations[number].nin;
      is_operand = std::ranges::find(group, number) == group.end() && std::find(begin, end, slot) != end;
    }
    return is_operand || is_visible.at(slot) || std::ranges::any_of(plan_->reductions, reduces);
  };
  std::vector<PlanStep> steps;
  std::array<bool, kMaxFusionSlots> is_row{};
  for (std::size_t place = 0; place < groups.size(); ++place) {
    const std::vector<std::size_t> group = groups[place];
    const PlanOperation& first = operations[group.front()];
    if (!is_exact(first)) {
      fused->in_memory.at(first.slots[first.nin]) = true;
      steps.push_back({.code = nullptr, .operation = group.front()});
      continue;
    }
    std::vector<VectorOperation> vector_op;
    std::vector<VectorInput> inputs;
    std::vector<std::uint8_t> stored;
    std::array<bool, kMaxFusionSlots> is_known{};
    for (const std::size_t number : group) {
      const PlanOperation& operation = operations[number];
      VectorOperation own{.what = operation.vector_op, .nin = operation.nin, .out = operation.slots[operation.nin]};
      for (unsigned i = 0; i < operation.nin; ++i) {
        const Slot slot = own.in.at(i) = operation.slots[i];
        if (!std::exchange(is_known.at(slot), true)) {
          inputs.push_back({.slot = slot,
                            .place = is_scalar.at(slot)                   ? InputKind::kScalar
                                     : takes_bool(operation.vector_op, i) ? InputKind::kBools
                                                                          : InputKind::kDoubles});
        }
      }
      is_known.at(own.out) = true;
      vector_op.push_back(own);
      if (is_read_elsewhere(group, own.out, false)) {
        stored.push_back(own.out);
      }
    }
    const VectorSum sum = fused_sum(vector_op);
    std::vector<std::uint8_t> stored_without_sum = stored;  // a result that only the sum needs is not stored
    if (sum.result >= 0 && !is_read_elsewhere(group, static_cast<Slot>(sum.result), true)) {
      std::erase(stored_without_sum, sum.result);
    }
    std::shared_ptr<const VectorCode> code = VectorCode::make(vector_op, inputs, stored_without_sum, sum);
    if (code != nullptr && sum.result >= 0) {
      plan_->sum = sum;
      stored = std::move(stored_without_sum);
    } else if (code == nullptr && sum.result >= 0) {
      code = VectorCode::make(vector_op, inputs, stored);
    }
    if (code == nullptr && group.size() > 1) {  // too many values for the registers
      const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
      groups[place].assign(middle, group.end());
      groups.insert(groups.begin() + static_cast<std::ptrdiff_t>(place), {group.begin(), middle});
      --place;
      continue;
    }
    if (code == nullptr) {
      *fused = {};
      plan_->sum = {};
      return;
    }
    for (const Slot slot : stored) {
      fused->in_memory.at(slot) = true;
    }
    for (const VectorInput& input : inputs) {
      is_row.at(input.slot) = true;
    }
    const bool is_quotient = count == 1 && first.vector_op == VectorOp::kDivide && plan_->reductions.empty() &&
                             !is_scalar.at(first.slots[0]) && is_scalar.at(first.slots[1]);
    steps.push_back({.code = std::move(code), .operation = group.front(), .is_quotient = is_quotient});
  }
  if (std::ranges::all_of(steps, [](const PlanStep& step) { return step.code == nullptr; })) {
    *fused = {};
    plan_->sum = {};
    return;
  }
  plan_->steps = std::move(steps);
  plan_->is_fused = plan_->steps.size() == 1;
  plan_->stores_no_nans = std::ranges::all_of(plan_->steps,
                                              [&](const PlanStep& step) {
                                                return (step.code != nullptr && !step.is_quotient) ||
                                                       operations[step.operation].stage == PlanStage::kAxisReduction;
                                              }) &&
                          !plan_->is_staged();
  for (const PlanInput& input : plan_->inputs) {
    if (is_row.at(input.slot)) {
      plan_->rows.emplace_back(input.slot, np_.item_size[input.type]);
    }
  }
}

// Assigns blocks to slots that are neither inputs nor outputs; no block is written while it may still be read.
void FusionPlanBuilder::assign_temporaries(const FusedCode& fused) {
  std::array<std::size_t, kMaxFusionSlots> last_use{};
  std::array<int, kMaxFusionSlots> buffers{};
  std::array<bool, kMaxFusionSlots> has_memory{};
  buffers.fill(-1);
  for (const PlanOutput& output : plan_->outputs) {
    has_memory.at(output.slot) = true;
  }
  for (const PlanTarget& target : plan_->targets) {
    has_memory.at(target.slot) = true;
  }
  const std::vector<PlanOperation>& operations = plan_->operations;
  for (std::size_t number = 0; number < operations.size(); ++number) {
    for (unsigned i = 0; i <= operations[number].nin; ++i) {
      last_use.at(operations[number].slots[i]) = number;
    }
  }
  for (const PlanReduction& reduced : plan_->reductions) {
    last_use.at(reduced.slot) = operations.size();  // the reductions come behind all operations of a block
  }
  for (std::size_t i = 0; i < plan_->axis_reductions.size() && !plan_->is_staged(); ++i) {
    last_use.at(plan_->axis_reductions[i].slot) = operations.size();
  }
  for (PlanStep& step : plan_->steps) {
    const PlanOperation& operation = operations[step.operation];
    step.is_quotient =
        step.is_quotient && has_memory.at(operation.slots[operation.nin]);  // long blocks have no buffers
  }
  std::vector<int> free;
  for (std::size_t number = 0; number < operations.size(); ++number) {
    const PlanOperation& operation = operations[number];
    const Slot out = operation.slots[operation.nin];
    if (!has_memory.at(out) && (plan_->is_staged() || operation.stage != PlanStage::kAxisReduction)) {
      const bool is_kept = fused.in_memory.at(out);
      if (free.empty() || is_kept) {
        free.push_back(plan_->buffers++);
      }
      buffers.at(out) = free.back();
      free.pop_back();
      plan_->temporaries.push_back(
          {.slot = out, .item_size = operation.out_size, .buffer = static_cast<std::uint16_t>(buffers.at(out))});
    }
    for (unsigned i = 0; i <= operation.nin; ++i) {
      const Slot slot = operation.slots[i];
      if (buffers.at(slot) >= 0 && last_use.at(slot) == number && !fused.in_memory.at(slot)) {
        free.push_back(std::exchange(buffers.at(slot), -1));
      }
    }
  }
  // A cast of an input lives as long as the input is read.
  for (std::size_t number = operations.size(); number-- > 0;) {
    if (operations[number].is_cast) {
      std::size_t& source = last_use.at(operations[number].slots[0]);
      source = std::max(source, last_use.at(operations[number].slots[1]));
    }
  }
  for (PlanTarget& target : plan_->targets) {
    for (std::size_t i = 0; i < plan_->inputs.size(); ++i) {
      if (last_use.at(plan_->inputs[i].slot) > target.written) {
        target.later |= std::uint64_t{1} << i;
      }
    }
  }
}

}  // namespace tagalong::array
