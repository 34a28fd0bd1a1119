// Kernel fusion: which operations of a fusion group become one vector loop, and in which memory the other operations
// find their operands.
#include <algorithm>
#include <utility>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/codegen/vector/reduction_leaves.h"

namespace tagalong::array {
namespace {

constexpr Extent kLongQuotients = 128;  // elements

}  // namespace

// The pairwise sum that the kernel of these operations can compute, too; empty: there is none.
VectorSum FusionPlanBuilder::fused_sum(std::span<const VectorOperation> operations) {
  for (const FusionPlan::Reduced& reduced : plan_->reductions_) {
    const bool is_computed_here =
        std::ranges::find(operations, reduced.slot, &VectorOperation::out) != operations.end();
    if (reduced.kernel->has_known_order && is_computed_here && plan_->sum_.result < 0) {
      const int leaves = new_slot();
      return leaves < 0 ? VectorSum() : VectorSum{.result = reduced.slot, .leaves = leaves};
    }
  }
  return {};
}

// Alternates: first all operations that vector code can compute by now become one kernel, then come operations with
// NumPy's loops.
void FusionPlanBuilder::fuse_vector_code(FusedCode* fused) {
  const std::vector<FusionPlan::Operation>& operations = plan_->operations_;
  const std::size_t count = operations.size();
  if (vector_lanes() == 0) {
    return;
  }
  std::array<bool, kMaxFusionSlots> is_scalar{};
  for (const FusionPlan::Scalar& scalar : plan_->scalars_) {
    is_scalar.at(scalar.slot) = true;
  }
  for (const FusionPlan::Constant& constant : plan_->constants_) {
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
  for (const FusionPlan::Operation& operation : operations) {
    const auto* end = operation.slots.begin() + operation.nin;
    is_mask.at(*end) =
        is_bool(operation.vector_op) &&
        (!is_logic(operation.vector_op) ||
         std::any_of(operation.slots.begin(), end, [&](FusionPlan::Slot slot) { return is_mask.at(slot); }));
  }
  const auto is_exact = [&](const FusionPlan::Operation& operation) {
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
  for (const FusionPlan::Operation& operation : operations) {
    exists_yet.at(operation.slots[operation.nin]) = false;
  }
  std::vector<bool> is_done(count);
  const auto has_operands = [&](std::size_t number) {
    const FusionPlan::Operation& operation = operations[number];
    return !is_done[number] && std::all_of(operation.slots.begin(), operation.slots.begin() + operation.nin,
                                           [&](FusionPlan::Slot slot) { return exists_yet.at(slot); });
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
  for (const FusionPlan::Output& output : plan_->outputs_) {
    is_visible.at(output.slot) = is_visible.at(output.slot) || (output.reduction < 0 && output.axis_reduction < 0);
  }
  for (const FusionPlan::Target& target : plan_->targets_) {
    is_visible.at(target.slot) = true;
  }
  for (const FusionPlan::AxisReduction& axis_reduction : plan_->axis_reductions_) {
    is_visible.at(axis_reduction.slot) = true;
  }
  // Whether the slot is read from memory outside the group (with `is_summed`: apart from the group's own sum).
  const auto is_read_elsewhere = [&](const std::vector<std::size_t>& group, FusionPlan::Slot slot, bool is_summed) {
    const auto reduces = [&](const FusionPlan::Reduced& reduced) {
      return reduced.slot == slot && !(is_summed && reduced.kernel->has_known_order);
    };
    bool is_operand = false;
    for (std::size_t number = 0; number < count && !is_operand; ++number) {
      const auto* begin = operations[number].slots.begin();
      const auto* end = begin + operations[number].nin;
      is_operand = std::ranges::find(group, number) == group.end() && std::find(begin, end, slot) != end;
    }
    return is_operand || is_visible.at(slot) || std::ranges::any_of(plan_->reductions_, reduces);
  };
  std::vector<FusionPlan::Step> steps;
  std::array<bool, kMaxFusionSlots> is_row{};
  for (std::size_t place = 0; place < groups.size(); ++place) {
    const std::vector<std::size_t> group = groups[place];
    const FusionPlan::Operation& first = operations[group.front()];
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
      const FusionPlan::Operation& operation = operations[number];
      VectorOperation own{.what = operation.vector_op, .nin = operation.nin, .out = operation.slots[operation.nin]};
      for (unsigned i = 0; i < operation.nin; ++i) {
        const FusionPlan::Slot slot = own.in.at(i) = operation.slots[i];
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
    if (sum.result >= 0 && !is_read_elsewhere(group, static_cast<FusionPlan::Slot>(sum.result), true)) {
      std::erase(stored_without_sum, sum.result);
    }
    std::shared_ptr<const VectorCode> code = VectorCode::make(vector_op, inputs, stored_without_sum, sum);
    if (code != nullptr && sum.result >= 0) {
      plan_->sum_ = sum;
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
      plan_->sum_ = {};
      return;
    }
    for (const FusionPlan::Slot slot : stored) {
      fused->in_memory.at(slot) = true;
    }
    for (const VectorInput& input : inputs) {
      is_row.at(input.slot) = true;
    }
    const bool is_quotient = count == 1 && first.vector_op == VectorOp::kDivide && plan_->reductions_.empty() &&
                             !is_scalar.at(first.slots[0]) && is_scalar.at(first.slots[1]);
    steps.push_back({.code = std::move(code), .operation = group.front(), .is_quotient = is_quotient});
  }
  if (std::ranges::all_of(steps, [](const FusionPlan::Step& step) { return step.code == nullptr; })) {
    *fused = {};
    plan_->sum_ = {};
    return;
  }
  plan_->steps_ = std::move(steps);
  plan_->is_fused_ = plan_->steps_.size() == 1;
  plan_->stores_no_nans_ =
      std::ranges::all_of(plan_->steps_,
                          [&](const FusionPlan::Step& step) {
                            return (step.code != nullptr && !step.is_quotient) ||
                                   operations[step.operation].stage == FusionPlan::Stage::kAxisReduction;
                          }) &&
      !plan_->is_staged_;
  for (const FusionPlan::Input& input : plan_->inputs_) {
    if (is_row.at(input.slot)) {
      plan_->rows_.emplace_back(input.slot, np_.item_size[input.type]);
    }
  }
}

// Assigns blocks to slots that are neither inputs nor outputs; no block is written while it may still be read.
void FusionPlanBuilder::assign_temporaries(const FusedCode& fused) {
  std::array<std::size_t, kMaxFusionSlots> last_use{};
  std::array<int, kMaxFusionSlots> buffers{};
  std::array<bool, kMaxFusionSlots> has_memory{};
  buffers.fill(-1);
  for (const FusionPlan::Output& output : plan_->outputs_) {
    has_memory.at(output.slot) = true;
  }
  for (const FusionPlan::Target& target : plan_->targets_) {
    has_memory.at(target.slot) = true;
  }
  const std::vector<FusionPlan::Operation>& operations = plan_->operations_;
  for (std::size_t number = 0; number < operations.size(); ++number) {
    for (unsigned i = 0; i <= operations[number].nin; ++i) {
      last_use.at(operations[number].slots[i]) = number;
    }
  }
  for (const FusionPlan::Reduced& reduced : plan_->reductions_) {
    last_use.at(reduced.slot) = operations.size();  // the reductions come behind all operations of a block
  }
  for (std::size_t i = 0; i < plan_->axis_reductions_.size() && !plan_->is_staged_; ++i) {
    last_use.at(plan_->axis_reductions_[i].slot) = operations.size();
  }
  for (FusionPlan::Step& step : plan_->steps_) {
    const FusionPlan::Operation& operation = operations[step.operation];
    step.is_quotient =
        step.is_quotient && has_memory.at(operation.slots[operation.nin]);  // long blocks have no buffers
  }
  std::vector<int> free;
  for (std::size_t number = 0; number < operations.size(); ++number) {
    const FusionPlan::Operation& operation = operations[number];
    const FusionPlan::Slot out = operation.slots[operation.nin];
    if (!has_memory.at(out) && (plan_->is_staged_ || operation.stage != FusionPlan::Stage::kAxisReduction)) {
      const bool is_kept = fused.in_memory.at(out);
      if (free.empty() || is_kept) {
        free.push_back(plan_->buffers_++);
      }
      buffers.at(out) = free.back();
      free.pop_back();
      plan_->temporaries_.push_back(
          {.slot = out, .item_size = operation.out_size, .buffer = static_cast<std::uint16_t>(buffers.at(out))});
    }
    for (unsigned i = 0; i <= operation.nin; ++i) {
      const FusionPlan::Slot slot = operation.slots[i];
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
  for (FusionPlan::Target& target : plan_->targets_) {
    for (std::size_t i = 0; i < plan_->inputs_.size(); ++i) {
      if (last_use.at(plan_->inputs_[i].slot) > target.written) {
        target.later |= std::uint64_t{1} << i;
      }
    }
  }
}

// kOpen: the vector code has bailed out; no visible memory has been written, and the operations have to be computed one
// by one.
FusionPlan::Outcome FusionPlan::compute_steps(Frame* frame, Extent count) const {
  for (const auto& [slot, item_size] : rows_) {
    if (frame->strides[slot] != item_size) {
      return Outcome::kOpen;
    }
  }
  if (sum_.result >= 0) {
    frame->leaves.cut(count);
    frame->data[static_cast<std::size_t>(sum_.leaves)] = reinterpret_cast<char*>(frame->leaves.begin());
  }
  for (const Step& step : steps_) {
    if (step.code == nullptr || (step.is_quotient && count >= kLongQuotients)) {
      if (!compute_operation(step.operation, frame, count)) [[unlikely]] {
        return Outcome::kFailed;
      }
    } else if (frame->with_non_temporal != nullptr && may_store_non_temporal(*frame)) [[unlikely]] {
      fusion_counts.non_temporal.add();
      if (!frame->with_non_temporal->run(frame->data.data(), count)) {
        return Outcome::kOpen;
      }
    } else {
      const VectorCode& code = frame->with_prefetch == nullptr ? *step.code : *frame->with_prefetch;
      if (frame->with_prefetch != nullptr) {
        fusion_counts.prefetched.add();
      }
      if (!code.run(frame->data.data(), count)) [[unlikely]] {
        return Outcome::kOpen;
      }
    }
  }
  return Outcome::kDone;
}

}  // namespace tagalong::array
