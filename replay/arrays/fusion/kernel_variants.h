// Variants of the only kernel of a plan, made when a run first needs them: with non-temporal stores, with software
// prefetch, fused with an argmin. They are kept as long as the plan, since runs that have released the GIL use them.
// The caller holds the GIL, which is the lock of this cache.
#pragma once

#include <array>
#include <boost/container/static_vector.hpp>
#include <memory>
#include <vector>

#include "replay/arrays/fusion/run_state.h"

namespace tagalong::array {

class KernelVariants {
 public:
  using Kernels = std::vector<std::shared_ptr<const VectorCode>>;
  using Items = boost::container::static_vector<Slot, kMaxFusionInputs>;

  // Null: there is no such variant. `stored` are the same slots in all runs of a plan.
  // The kernel is one of two in all runs: `is_swapped` says which.
  const VectorCode* non_temporal(const VectorCode& kernel, bool is_swapped, std::span<const Slot> stored);
  const VectorCode* prefetching(const VectorCode& kernel);
  // `items`: slots that hold one element for each position in a row. The variant is made once runs have had enough
  // elements, of which this run has `elements`.
  const VectorCode* argmin(const VectorCode& kernel, const Items& items, const VectorArgmin& what, Extent elements);

  void append_to(Kernels* kernels) const;

 private:
  struct Variant {
    std::shared_ptr<const VectorCode> code;
    bool is_made = false;
  };
  struct Argmin {
    std::shared_ptr<const VectorCode> code;  // null: it could not be made
    Extent row = 0;
    Items items;
  };
  std::array<Variant, 2> non_temporal_;
  Variant prefetching_;
  std::vector<Argmin> argmins_;
  Extent argmin_elements_ = 0;  // elements of all runs that had no such variant
};

// Choose variants for a run whose operands are bound.
void choose_non_temporal(const FusionPlan& plan, const Space* space, KernelVariants* variants, RunState* state);
void choose_prefetching(const FusionPlan& plan, const Space* space, KernelVariants* variants, RunState* state);
void choose_argmin(const FusionPlan& plan, const Space* space, KernelVariants* variants, const RunState& state);

// Whether the next block may be written with non-temporal stores, which need aligned addresses.
[[nodiscard]] bool may_store_non_temporal(const RunState& state);

}  // namespace tagalong::array
