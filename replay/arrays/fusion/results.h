// The results of a run: new arrays, which are made before the computation, and scalars.
#pragma once

#include "replay/arrays/fusion/fusion_group.h"

namespace tagalong::array {

class RunResults {
 public:
  RunResults(const FusionPlan& plan, const RunArguments& arguments, RunState* state, Space* space)
      : plan_(plan), arguments_(arguments), state_(*state), space_(space) {}

  // Makes the arrays, or takes the buffer of an operand for one array. False: an exception is set.
  [[nodiscard]] bool make(Backoff* reuse);
  // Stores the results of reductions. False: an exception is set.
  [[nodiscard]] bool store_reductions();

 private:
  [[nodiscard]] PyObject* reused_buffer(Backoff* reuse) const;
  [[nodiscard]] Ref make_array(std::size_t number) const;

  const FusionPlan& plan_;
  const RunArguments& arguments_;
  RunState& state_;
  Space* space_;
};

}  // namespace tagalong::array
