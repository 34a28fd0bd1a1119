// One run of a fusion group on the general path: binds the operands, makes the results, computes all blocks, and checks
// whether anything has to be reported. Unless it succeeds, nothing has happened.
#pragma once

#include "replay/arrays/fusion/fusion_group.h"
#include "replay/arrays/fusion/in_place.h"
#include "replay/arrays/fusion/parallel_plan.h"

namespace tagalong::array {

class GroupRun {
 public:
  GroupRun(const FusionPlan& plan, RunHistory* history, const RunArguments& arguments)
      : plan_(plan), history_(*history), arguments_(arguments) {}

  FusionReason run();

 private:
  FusionReason run_in_kept_space();
  FusionReason run_in_space(Space* space);
  FusionReason execute(Space* space, InPlaceTargets* targets);
  [[nodiscard]] bool is_profitable(const Space& space, InPlaceTargets* targets) const;
  [[nodiscard]] bool has_negative_row() const;
  [[nodiscard]] bool has_touching_targets(const Space& space) const;
  [[nodiscard]] Extent block(const Space* space) const;
  [[nodiscard]] bool has_small_blocks(const Space* space) const;
  [[nodiscard]] std::size_t target_bytes() const {
    return padded(static_cast<std::size_t>(state_.count) * plan_.item_bytes) + kCacheLine;
  }
  void place_contents(bool is_copied, char* contents);
  void copy_contents(Space* space, const char* contents) const;
  FusionReason compute_and_check(Space* space, const PartMemory& memory, WriteMode mode);
  FusionReason compute_and_check(Space* space, const PartMemory& memory);
  FusionReason run_speculatively(Space* space, const PartMemory& memory);
  bool compute(Space* space, const PartMemory& memory);
  void finish_reductions();

  const FusionPlan& plan_;
  RunHistory& history_;
  RunArguments arguments_;
  RunState state_;
};

}  // namespace tagalong::array
