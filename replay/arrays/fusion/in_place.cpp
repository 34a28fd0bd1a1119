// In-place destinations: large existing arrays into which results are computed directly, which is faster than computing
// elsewhere and copying. First it has to be known that no report can show them half written. There are three ways: no
// program can notice when the report comes, the inputs are too small for errors, or all blocks are computed twice
// (speculative execution).
#include "replay/arrays/fusion/in_place.h"

#include <algorithm>

#include "replay/arrays/numpy/float_reports.h"

namespace tagalong::array {
namespace {

constexpr std::size_t kMinSpeculativeBytes = 2U << 20U;  // bytes of a target: more than a second-level cache
constexpr Cost kMostCost = 16;  // per element: about the cost of writing and reading it once more

}  // namespace

long min_in_place = 32L << 10;  // more than a copy in the innermost cache costs

bool InPlaceTargets::may_be_direct() const {
  if (static_cast<long>(state_.count) * static_cast<long>(plan_.item_bytes) < min_in_place || space_ == nullptr ||
      plan_.targets.empty() || !plan_.is_fused || !plan_.steps.front().code || plan_.is_serial ||
      !plan_.is_elementwise()) {
    return false;
  }
  // An input that overlaps a target would be read after it has been written.
  const auto does_not_overlap = [&](std::size_t target) {
    const Extent item_size = np_.item_size[plan_.targets[target].type];
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (overlap(space_->targets[target], item_size, space_->inputs[i], np_.item_size[plan_.inputs[i].type])) {
        return false;
      }
    }
    return true;
  };
  const bool has_results =
      std::ranges::any_of(plan_.outputs, [](const PlanOutput& output) { return output.descr != nullptr; });
  bool no_target_overlaps = true;
  for (std::size_t target = 0; target < plan_.targets.size(); ++target) {
    no_target_overlaps = no_target_overlaps && does_not_overlap(target);
  }
  return !has_results && no_target_overlaps;
}

// A late report leaves new contents behind; then the operations are computed one by one and write all elements again.
bool InPlaceTargets::are_unnoticed() {
  if (!are_unnoticed_) {
    are_unnoticed_ = may_be_direct() && reports_are_unnoticed(np_);
  }
  return *are_unnoticed_;
}

WriteMode InPlaceTargets::mode(std::size_t parts) {
  if (plan_.targets.empty()) {
    return WriteMode::kCopied;
  }
  if (are_unnoticed()) {
    return WriteMode::kInPlace;
  }
  if (!may_be_direct()) {
    return WriteMode::kCopied;
  }
  if (cannot_raise(parts)) {
    return WriteMode::kInPlace;
  }
  Cost fused_cost_sum = 0;
  for (const PlanOperation& operation : plan_.operations) {
    fused_cost_sum += fused_cost(operation.vector_op);
  }
  const std::size_t bytes = static_cast<std::size_t>(state_.count) * plan_.item_bytes;
  return bytes < kMinSpeculativeBytes || fused_cost_sum > kMostCost ? WriteMode::kCopied : WriteMode::kSpeculative;
}

void InPlaceTargets::write_directly(Space* space) const {
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    const Strides& strides = space->target_strides[i];
    const Extent item_size = np_.item_size[plan_.targets[i].type];
    space->scattered.push_back({.data = space->targets[i].data,
                                .strides = strides,
                                .slot = plan_.targets[i].slot,
                                .item_size = static_cast<std::uint8_t>(item_size),
                                .is_direct = strides[0] == item_size});
  }
}

}  // namespace tagalong::array
