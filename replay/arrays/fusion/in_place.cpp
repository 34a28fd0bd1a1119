// In-place destinations: large existing arrays into which results are computed directly, which is faster than computing
// elsewhere and copying. First it has to be known that no report can show them half written. There are three ways: no
// program can notice when the report comes, the inputs are too small for errors, or all blocks are computed twice
// (speculative execution).
#include <algorithm>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/numpy/float_reports.h"

namespace tagalong::array {
namespace {

constexpr std::size_t kMinSpeculativeBytes = 2U << 20U;  // bytes of a target: more than a second-level cache
constexpr Cost kMostCost = 16;  // per element: about the cost of writing and reading it once more

}  // namespace

long min_in_place = 32L << 10;  // more than a copy in the innermost cache costs

bool FusionPlan::may_be_in_place(const Numpy& np, const Frame& frame, const Space* space) const {
  if (static_cast<long>(frame.count) * static_cast<long>(kItemSize) < min_in_place || space == nullptr ||
      targets_.empty() || !is_fused_ || !steps_.front().code || is_serial_ || is_staged_ || has_masks_ ||
      !reductions_.empty() || !axis_reductions_.empty()) {
    return false;
  }
  // An input that overlaps a target would be read after it has been written.
  const auto does_not_overlap = [&](std::size_t target) {
    const Bytes written = bytes_of(space->targets[target], np.item_size[targets_[target].type]);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (written.overlaps(bytes_of(space->inputs[i], np.item_size[inputs_[i].type]))) {
        return false;
      }
    }
    return true;
  };
  const bool has_results = std::ranges::any_of(outputs_, [](const Output& output) { return output.descr != nullptr; });
  bool no_target_overlaps = true;
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    no_target_overlaps = no_target_overlaps && does_not_overlap(target);
  }
  return !has_results && no_target_overlaps;
}

// A late report leaves new contents behind; then the operations are computed one by one and write all elements again.
bool FusionPlan::is_unnoticed_in_place(const Numpy& np, Frame* frame, const Space* space) const {
  if (!frame->is_unnoticed) {
    frame->is_unnoticed = may_be_in_place(np, *frame, space) && reports_are_unnoticed(np);
  }
  return *frame->is_unnoticed;
}

FusionPlan::WriteMode FusionPlan::write_mode(const Numpy& np, Frame* frame, const Space* space,
                                             std::size_t parts) const {
  if (is_unnoticed_in_place(np, frame, space)) {
    return WriteMode::kInPlace;
  }
  if (!may_be_in_place(np, *frame, space)) {
    return WriteMode::kCopied;
  }
  if (cannot_raise(np, *frame, *space, parts)) {
    return WriteMode::kInPlace;
  }
  Cost fused_cost_sum = 0;
  for (const Operation& operation : operations_) {
    fused_cost_sum += fused_cost(operation.vector_op);
  }
  const std::size_t bytes = static_cast<std::size_t>(frame->count) * kItemSize;
  return bytes < kMinSpeculativeBytes || fused_cost_sum > kMostCost ? WriteMode::kCopied : WriteMode::kSpeculative;
}

void FusionPlan::place_targets(const Numpy& np, Space* space) const {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const Strides& strides = space->target_strides[i];
    const Extent item_size = np.item_size[targets_[i].type];
    space->scattered.push_back({.data = space->targets[i].data,
                                .strides = strides,
                                .slot = targets_[i].slot,
                                .item_size = static_cast<std::uint8_t>(item_size),
                                .is_direct = strides[0] == item_size});
  }
}

}  // namespace tagalong::array
