// Argmin and argmax along short rows of operations on columns and repeated rows, such as the distances of many points
// from a few others. Neither the columns nor the operations' results are laid out as rows.
#include <algorithm>

#include "replay/arrays/fusion/kernel_variants.h"
#include "replay/arrays/fusion/traversal.h"
#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {
namespace {

// The address of `count` consecutive elements: the array itself, or a copy in the block.
char* column_of(char* from, Extent stride, Extent count, char* block) {
  if (stride == static_cast<Extent>(kItemSize)) {
    return from;
  }
  copy_row(from, stride, block, static_cast<Extent>(kItemSize), kItemSize, count);
  return block;
}

// The only fused kernel, if the operations are a single one; otherwise null.
const VectorCode* only_kernel(const FusionPlan& plan) {
  const VectorCode* only = nullptr;
  for (const PlanStep& step : plan.steps) {
    if (step.code == nullptr ? plan.operations[step.operation].extent != OperationExtent::kAxisReduction
                             : only != nullptr) {
      return nullptr;
    }
    only = step.code == nullptr ? only : step.code.get();
  }
  return only;
}

}  // namespace

void choose_argmin(const FusionPlan& plan, const Space* space, KernelVariants* variants, const RunState& state) {
  AxisReductions* axis_reductions = state.axis_reductions;
  const bool may_be =
      axis_reductions != nullptr && space != nullptr && !plan.is_cut_by_rows() && plan.sum.result < 0 &&
      plan.axis_reductions.size() == 1 && plan.reductions.empty() && plan.targets.empty() &&
      plan.axis_reductions[0].kernel->rows != nullptr &&
      std::ranges::all_of(plan.outputs, [](const PlanOutput& output) { return output.axis_reduction >= 0; });
  const VectorCode* kernel = may_be ? only_kernel(plan) : nullptr;
  if (kernel == nullptr || space->walk->nd() != 2 || space->walk->row() != axis_reductions->row ||
      axis_reductions->row > kMostRowTogether || state.count / axis_reductions->row < kLanes ||
      space->gathered.size() != plan.inputs.size()) {
    return;
  }
  KernelVariants::Items items;
  for (const Space::Port& port : space->gathered) {
    if (port.item_size != kItemSize || port.is_rolled || (port.strides[0] != 0 && port.strides[1] != 0)) {
      return;
    }
    if (port.strides[1] == 0) {
      items.push_back(port.slot);
    }
  }
  const VectorArgmin what{.result = plan.axis_reductions[0].slot,
                          .places = plan.axis_reductions[0].slot,
                          .row = axis_reductions->row,
                          .of_largest = plan.axis_reductions[0].reduction == Reduction::kArgMax};
  axis_reductions->argmin = variants->argmin(*kernel, items, what, state.count);
}

// Computes as many rows as possible with the fused code, until it bails out. Returns the number of elements done.
Extent Traversal::compute_argmins() {
  constexpr Extent kLongest = 8 * kBlock;  // rows that are computed again if one bails out
  const Extent row = state_.axis_reductions->row;
  AxisReducer& axis_reduction = state_.axis_reductions->of[0];
  Walk& walk = *space_->walk;
  bool is_direct = true;
  for (const Space::Port& port : space_->gathered) {
    if (port.strides[1] == 0) {
      walk.gather(port.data, port.strides, port.item_size, row, port.block);
      state_.data[port.slot] = port.block;
    }
    is_direct = is_direct && (port.strides[1] == 0 || port.strides[1] == static_cast<Extent>(kItemSize));
  }
  // The block of the operations' result, which is not stored here.
  char* const result = state_.data[plan_.axis_reductions[0].slot];
  const Extent longest = is_direct ? kLongest : state_.block;
  const Extent all = state_.count / row;
  Extent done = 0;
  for (Extent rows = 0; all - done >= kLanes; done += rows) {
    rows = std::min(all - done, longest);
    if (all - done > rows && all - done - rows < kLanes) {
      rows -= kLanes;
    }
    for (const Space::Port& port : space_->gathered) {
      if (port.strides[1] != 0) {
        state_.data[port.slot] = column_of(walk.place(port.data, port.strides), port.strides[1], rows, port.block);
      }
    }
    state_.data[plan_.axis_reductions[0].slot] = axis_reduction.next_result();
    if (!state_.axis_reductions->argmin->run(state_.data.data(), rows)) {
      break;
    }
    argmin_fused.add(static_cast<std::uint64_t>(rows));
    axis_reduction.skip(rows);
    walk.advance(rows * row);
  }
  state_.data[plan_.axis_reductions[0].slot] = result;
  return done * row;
}

}  // namespace tagalong::array
