// Splits a large run into parts that several threads compute.
#pragma once

#include "replay/arrays/fusion/run_state.h"

namespace tagalong::array {

// Memory for the blocks of a run.
struct PartMemory {
  std::size_t parts;
  char* blocks;       // of all parts
  std::size_t each;   // bytes of a part's blocks
  std::size_t block;  // bytes of a block
};

// Depends on sizes alone. 1: the run is not split.
[[nodiscard]] std::size_t part_count(const FusionPlan& plan, const RunState& state);
// Gives each temporary, and each array that is gathered or scattered, a block of so many bytes.
void place_blocks(const FusionPlan& plan, char* blocks, std::size_t bytes, RunState* state, Space* space);
// Computes all parts without the GIL. False: as Traversal::compute().
bool compute_in_parallel(const FusionPlan& plan, const PartMemory& memory, RunState* state, Space* space);

}  // namespace tagalong::array
