// Fusion groups and machine code of an executor as text. The graph's text is in replay/ir/printer.h.
#pragma once

#include <string>
#include <vector>

#include "replay/codegen/printer.h"
#include "replay/executor/executor.h"

namespace tagalong::replay {

// The fusion groups that runs have planned so far, and why others were not planned. Empty: none has been tried.
[[nodiscard]] std::string print_kernels(const Executor& executor);
// The machine code that runs have made so far: of the loop and of vector kernels.
[[nodiscard]] std::vector<native::PlacedCode> placed_code(const Executor& executor);

// Called for each fusion group that a run plans, or cannot plan. Used under the GIL.
class PlanListener {
 public:
  virtual void planned(const Executor& executor, const PlannedGroup& group, const Step& first) = 0;
  virtual void not_planned(const Executor& executor, array::FusionReason reason, const Step& first) = 0;

 protected:
  ~PlanListener() = default;
};
extern PlanListener* plan_listener;  // null while the log has no topic `kernels`

}  // namespace tagalong::replay
