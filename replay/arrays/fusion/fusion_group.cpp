#include "replay/arrays/fusion/fusion_group.h"

#include "replay/arrays/fusion/group_run.h"
#include "replay/arrays/fusion/small_plan.h"

namespace tagalong::array {

FusionReason FusionGroup::run(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (plan_.is_small && run_small(plan_, np, externals, outputs, &history_.small)) {
    ++fusion_counts.small;
    return FusionReason::kNone;
  }
  return GroupRun(plan_, &history_, {np, externals, outputs}).run();
}

KernelVariants::Kernels FusionGroup::kernels() const {
  KernelVariants::Kernels all;
  for (const PlanStep& step : plan_.steps) {
    all.push_back(step.code);
    all.push_back(step.swapped_code);
  }
  history_.variants.append_to(&all);
  std::erase(all, nullptr);
  return all;
}

}  // namespace tagalong::array
