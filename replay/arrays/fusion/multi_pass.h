// Multi-pass kernels: consecutive fusion groups over all elements, of which later ones use reductions of earlier ones,
// as softmax uses the largest element and the sum. The passes are done together or not at all, like one fusion group.
// So the program cannot see arrays that only go from one pass to the next, and results may take their memory.
//
//   if (plan->run(np, externals.data(), results) == FusionReason::kNone) ...
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/fusion_limits.h"
#include "replay/arrays/fusion/fusion_reasons.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

class FusionGroup;
class VectorCode;

class MultiPassPlan {
 public:
  MultiPassPlan();
  MultiPassPlan(const MultiPassPlan&) = delete;
  MultiPassPlan& operator=(const MultiPassPlan&) = delete;
  ~MultiPassPlan();

  // These functions are as in FusionGroup.
  FusionReason run(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  [[nodiscard]] std::size_t operation_count() const;
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  // The vector kernels of all passes.
  [[nodiscard]] std::vector<std::shared_ptr<const VectorCode>> kernels() const;
  // Whether later passes have often refused after earlier ones had computed everything: separate plans are faster then.
  [[nodiscard]] bool is_better_apart() const;

 private:
  friend class MultiPassBuilder;
  friend class PlanPrinter;
  // Pass and index of its output, or kOfCall and index of the call.
  using Result = std::pair<std::uint8_t, std::uint8_t>;
  static constexpr std::uint8_t kOfCall = 0x80;  // offset of `second` for calls
  // A call of bincount behind a pass.
  struct Call {
    std::uint8_t pass = 0;
    int labels = -1;   // number of an external, or of a carried result behind all externals
    int weights = -1;  // as labels; -1: no weights
    Extent least = 0;
  };
  FusionReason run_all(const Numpy& np, PyObject* const* externals, Ref* outputs, bool is_again) const;

  std::vector<std::unique_ptr<FusionGroup>> groups_;  // by pass
  std::vector<Result> carried_;                       // results that later passes get beside the externals
  std::vector<Result> outputs_;
  std::vector<Call> calls_;
  std::size_t externals_ = 0;
  mutable unsigned refused_ = 0;  // how often a later pass than the first one has refused; under the GIL
};

}  // namespace tagalong::array
