// Argmin and argmax along short rows of operations on columns and repeated rows, such as the distances of many points
// from a few others. Neither the columns nor the operations' results are laid out as rows.
#include <algorithm>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {
namespace {

constexpr std::size_t kMostArgmins = 16;
constexpr Extent kMinArgmin = 1 << 18;  // elements for which generating the code pays

// The address of `count` consecutive elements: the array itself, or a copy in the block.
char* column_of(char* from, Extent stride, Extent count, char* block) {
  if (stride == static_cast<Extent>(kItemSize)) {
    return from;
  }
  copy_row(from, stride, block, static_cast<Extent>(kItemSize), kItemSize, count);
  return block;
}

}  // namespace

// The only fused kernel, if the operations are a single one; otherwise null.
const VectorCode* FusionPlan::only_code() const {
  const VectorCode* only = nullptr;
  for (const Step& step : steps_) {
    if (step.code == nullptr ? operations_[step.operation].stage != Stage::kAxisReduction : only != nullptr) {
      return nullptr;
    }
    only = step.code == nullptr ? only : step.code.get();
  }
  return only;
}

// Runs with the GIL, since the code belongs to the plan.
void FusionPlan::begin_argmin(const Frame& frame, const Space* space) const {
  AxisReductions* axis_reductions = frame.axis_reductions;
  const bool may_be = axis_reductions != nullptr && space != nullptr && !is_staged_ && sum_.result < 0 &&
                      axis_reductions_.size() == 1 && reductions_.empty() && targets_.empty() &&
                      axis_reductions_[0].kernel->rows != nullptr &&
                      std::ranges::all_of(outputs_, [](const Output& output) { return output.axis_reduction >= 0; });
  const VectorCode* code = may_be ? only_code() : nullptr;
  if (code == nullptr || space->walk->nd() != 2 || space->walk->row() != axis_reductions->row ||
      axis_reductions->row > kMostRowTogether || frame.count / axis_reductions->row < kLanes ||
      space->gathered.size() != inputs_.size()) {
    return;
  }
  Items items;
  for (const Space::Port& port : space->gathered) {
    if (port.item_size != kItemSize || (port.strides[0] != 0 && port.strides[1] != 0)) {
      return;
    }
    if (port.strides[1] == 0) {
      items.push_back(port.slot);
    }
  }
  const auto known = std::ranges::find_if(
      argmins_, [&](const Argmin& made) { return made.row == axis_reductions->row && made.items == items; });
  if (known != argmins_.end()) {
    axis_reductions->argmin = known->code.get();
    return;
  }
  argmin_elements_ += frame.count;
  if (argmins_.size() == kMostArgmins || (argmin_elements_ < kMinArgmin && fusion_enabled <= 1)) {
    return;
  }
  const VectorArgmin what{.result = axis_reductions_[0].slot,
                          .places = axis_reductions_[0].slot,
                          .row = axis_reductions->row,
                          .of_largest = axis_reductions_[0].reduction == Reduction::kArgMax};
  argmins_.push_back(
      {.code = code->argmin({items.data(), items.size()}, what), .row = axis_reductions->row, .items = items});
  axis_reductions->argmin = argmins_.back().code.get();
}

// Computes as many rows as possible with the fused code, until it bails out. Returns the number of elements done.
Extent FusionPlan::run_argmin(Frame* frame, Space* space) const {
  constexpr Extent kLongest = 8 * kBlock;  // rows that are computed again if one bails out
  const Extent row = frame->axis_reductions->row;
  AxisReducer& axis_reduction = frame->axis_reductions->of[0];
  Walk& walk = *space->walk;
  bool is_direct = true;
  for (const Space::Port& port : space->gathered) {
    if (port.strides[1] == 0) {
      walk.gather(port.data, port.strides, port.item_size, row, port.block);
      frame->data[port.slot] = port.block;
    }
    is_direct = is_direct && (port.strides[1] == 0 || port.strides[1] == static_cast<Extent>(kItemSize));
  }
  // The block of the operations' result, which is not stored here.
  char* const result = frame->data[axis_reductions_[0].slot];
  const Extent longest = is_direct ? kLongest : frame->block;
  const Extent all = frame->count / row;
  Extent done = 0;
  for (Extent rows = 0; all - done >= kLanes; done += rows) {
    rows = std::min(all - done, longest);
    if (all - done > rows && all - done - rows < kLanes) {
      rows -= kLanes;
    }
    for (const Space::Port& port : space->gathered) {
      if (port.strides[1] != 0) {
        frame->data[port.slot] = column_of(walk.place(port.data, port.strides), port.strides[1], rows, port.block);
      }
    }
    frame->data[axis_reductions_[0].slot] = axis_reduction.next_result();
    if (!frame->axis_reductions->argmin->run(frame->data.data(), rows)) {
      break;
    }
    argmin_fused.add(static_cast<std::uint64_t>(rows));
    axis_reduction.skip(rows);
    walk.advance(rows * row);
  }
  frame->data[axis_reductions_[0].slot] = result;
  return done * row;
}

}  // namespace tagalong::array
