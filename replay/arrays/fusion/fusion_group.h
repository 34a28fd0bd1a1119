// A fusion group: element-wise operations over one iteration space whose intermediate results the program cannot see.
// Blocks go through all operations in turn, each on NumPy's own inner loop or as vector code, and only visible results
// become arrays. The group owns its plan and what runs learn for later runs. The plan serves all runs whose operands
// are of the same kinds, whatever their size and layout. A run refuses every case that is not exact, and then nothing
// has happened: the caller does the operations one by one. It also refuses a floating point error that the errstate
// does not ignore, since only the single operations report errors in the right order.
//
//   PyObject* externals[] = {first, second}; Ref results[1];
//   if (group->run(np, externals, results) == FusionReason::kNone) ...
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "replay/arrays/fusion/kernel_variants.h"

namespace tagalong::array {

// Skips a path for some runs after it has failed.
class Backoff {
 public:
  [[nodiscard]] bool skips_run() {
    if (left_ > 0) {
      --left_;
      return true;
    }
    return false;
  }
  void start(unsigned runs) { left_ = runs; }
  [[nodiscard]] unsigned left() const { return left_; }

 private:
  unsigned left_ = 0;
};

// What runs of a plan leave to later runs. The GIL is its lock: a run uses it before it releases the GIL, and after it
// has acquired the GIL again.
struct RunHistory {
  static constexpr unsigned kRunsWithoutReuse = 16;
  Backoff small;  // the short path
  Backoff reuse;  // the reuse of an operand's buffer
  KernelVariants variants;
  std::unique_ptr<Space> space;  // of the last run over several shapes and layouts; null while a run uses it
};

class FusionGroup {
 public:
  explicit FusionGroup(FusionPlan plan) : plan_(std::move(plan)) {}

  // `externals` by their numbers; as many `outputs` as the builder got, in that order. The caller holds the GIL; a long
  // computation releases it. kNone: done; any other reason: nothing has happened.
  FusionReason run(const Numpy& np, PyObject* const* externals, Ref* outputs) const;

  [[nodiscard]] const FusionPlan& plan() const { return plan_; }
  // The vector kernels, and the variants of them that runs have asked for.
  [[nodiscard]] KernelVariants::Kernels kernels() const;
  // After a refused run: whether the same run may succeed with new memory for all results. It was refused because
  // results had taken the memory of operands.
  [[nodiscard]] bool may_retry_without_reuse() const { return history_.reuse.left() == RunHistory::kRunsWithoutReuse; }

 private:
  FusionPlan plan_;
  mutable RunHistory history_;
};

}  // namespace tagalong::array
