// What runs of fusion groups count, and the switches that tests set.
#pragma once

#include <cstdint>

#include "replay/arrays/fusion/fusion_reasons.h"
#include "replay/arrays/simd/tally.h"

namespace tagalong::array {

// 0: operations are run one by one. 1: as fusion groups where that is faster. 2: as fusion groups always, for tests.
extern int fusion_enabled;

struct FusionCounts {
  std::uint64_t planned = 0;
  std::uint64_t run = 0;
  std::uint64_t whole = 0;      // runs of groups that are all that a function does
  std::uint64_t small = 0;      // runs on the short path
  std::uint64_t as_before = 0;  // runs over several layouts, which were those of the run before
  std::uint64_t in_passes = 0;  // runs of several passes as one plan
  std::uint64_t reused = 0;     // results in a reused buffer
  std::uint64_t parts = 0;      // parts that several threads may have computed
  Tally non_temporal;           // blocks written with non-temporal stores
  Tally prefetched;             // blocks read with software prefetch
  Tally fused_sums;             // blocks that were summed while they were computed
  Tally rows_kept;              // blocks of a repeated row that did not have to be gathered again
  Tally rows_together;          // short rows that were computed together with others by one call of machine code
  Tally long_parts;             // parts of long rows, longer than a block, computed by one call of machine code
  std::uint64_t in_place = 0;   // runs that wrote an in-place destination at once
  std::uint64_t twice = 0;    // speculative runs, whose blocks were computed a second time into an in-place destination
  std::uint64_t refused = 0;  // runs with an exception or a report, whose operations were done again one by one
  FusionReasonCounts reasons;
};
extern FusionCounts fusion_counts;

// The smallest in-place destination, in bytes of a row of doubles, that may be written directly (in_place.cpp).
extern long min_in_place;

}  // namespace tagalong::array
