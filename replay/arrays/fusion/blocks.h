// Computes one block of elements: all operations in turn, by fused kernels or by NumPy's loops, then the reductions.
// The run's state says where the block is; the next block begins behind it after advance().
#pragma once

#include "replay/arrays/fusion/run_state.h"

namespace tagalong::array {

class BlockComputation {
 public:
  BlockComputation(const FusionPlan& plan, RunState* state) : plan_(plan), state_(*state) {}

  // False: a loop has set an exception, or vector code has bailed out where the block cannot be computed again.
  [[nodiscard]] bool compute(Extent count);
  // Whether the results of the block contain NaNs.
  [[nodiscard]] bool has_nans(Extent count) const;
  // Adds the block to the reductions of all elements, or along axes. False: a loop has set an exception.
  [[nodiscard]] bool reduce(Extent count);
  [[nodiscard]] bool reduce_axes(Extent count);

 private:
  // kOpen: the vector code has bailed out; no visible memory has been written, and the operations have to be computed
  // one by one.
  enum class Outcome : std::uint8_t { kDone, kFailed, kOpen };
  Outcome compute_steps(Extent count);
  bool compute_one_by_one(Extent count);
  bool compute_operation(std::size_t number, Extent count);
  static bool compute_masked(const PlanOperation& operation, char** data, const Extent* strides, Extent count);
  bool compute_by_rows(const PlanOperation& operation, Extent count);

  const FusionPlan& plan_;
  RunState& state_;
};

// Moves all operands and results on by `count` elements.
void advance(const FusionPlan& plan, Extent count, RunState* state);

// Whether blocks may be kLongBlock elements long: one fused kernel computes them, so no block is read again.
[[nodiscard]] bool takes_long_blocks(const FusionPlan& plan, const Space* space);

}  // namespace tagalong::array
