// Completes a plan whose operations are known: which operands runs need, in which memory the operations find theirs,
// and what an element costs.
#pragma once

#include <span>

#include "replay/arrays/planning/kernel_fusion.h"

namespace tagalong::array {

// Removes inputs and scalars that only a rejected operation at the end of the group has used, so that runs do not need
// them.
void remove_unread(FusionPlan* plan);
// Lets a result take the memory of the first candidate that is an input of the result's dtype. The candidates are
// externals that are not used after a run. If a later pass refuses, nothing has happened, so their contents do not
// matter then.
void choose_reused_buffer(const Numpy& np, std::span<const int> candidates, FusionPlan* plan);
// Assigns blocks to slots that are neither inputs nor outputs; no block is written while it may still be read, whether
// steps are computed or one operation after the other.
void assign_temporaries(const KernelFusion::Steps& steps, FusionPlan* plan);
void add_costs(FusionPlan* plan);
// For the short path.
void record_item_sizes(const Numpy& np, FusionPlan* plan);

}  // namespace tagalong::array
