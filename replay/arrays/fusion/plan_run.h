// What one run of a fusion group has. Internal to the fusion group.
#pragma once

#include <bitset>
#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <limits>
#include <optional>

#include "replay/arrays/fusion/fusion_plan.h"
#include "replay/codegen/vector/reduction_leaves.h"

namespace tagalong::array {

inline constexpr Extent kBlock = 1024;       // elements
inline constexpr std::size_t kItemSize = 8;  // of the largest dtype that is split
inline constexpr std::size_t kCacheLine = 64;
// Where all is one loop of machine code a block is not read again. Each takes some 50 ns, and at its end the processor
// no longer knows what will be read next.
inline constexpr Extent kLongBlock = 8 * kBlock;
// Loops treat the last few elements differently, and which of two NaNs a sum or product is may show it. So blocks are
// multiples of this, except for the last one, which is not shorter.
inline constexpr Extent kLeastBlock = 64;
// Elements of rows that one call of machine code computes. What a row leaves open is known at the end of all of them.
inline constexpr Extent kMostTogether = 32 * kBlock;
// The cost (costs.h: 2 us) above which the GIL is given away.
inline constexpr Extent kGilThreshold = 32768;
// Rows of at least so many elements are not gathered: blocks end where they do.
inline constexpr Extent kLongRow = kBlock / 8;
inline constexpr Extent kLongRowOfOne = 24;  // where a block is one call of a loop

// Elements of a row of which all blocks fit into the inner caches.
inline constexpr Extent kMostRow = 8192;

inline constexpr Extent kWhole = std::numeric_limits<Extent>::max();

constexpr std::size_t padded(std::size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

// One run.
struct FusionPlan::Frame {
  Places data;                                  // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  std::array<Extent, kMaxFusionSlots> strides;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  alignas(16) Scalars scalars;
  std::bitset<kMaxFusionOperations> swapped;  // the operands of these change places
  const ArrayFields* shape = nullptr;
  int order = 0;
  Extent count = 1;
  Extent block = 0;
  Extent piece = kWhole;  // of a row, which is summed pairwise and added to the sum of those before
  int errors = 0;         // floating point errors that were up before a loop that may clear them
  bool is_begun = false;  // a block has been reduced
  bool is_refused = false;
  std::optional<bool> is_unnoticed;  // if an error is reported after targets have been written (float_reports.h)
  bool is_reused = false;            // an input's memory is that of a result: no block of it can be computed again
  bool is_tried = false;             // what is scattered stays in blocks
  bool is_one_by_one = false;        // what the steps leave open matters
  bool is_split_otherwise = false;   // than eager execution would split, and there are NaNs
  std::array<Accumulator, kMaxFusionReductions> reduced;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  AxisReductions* axis_reductions = nullptr;
  ReductionLeaves leaves;
  Extent row = 0;                                                         // elements that become one of a column
  const VectorCode* with_prefetch = nullptr;                              // in place of the only step
  const VectorCode* with_non_temporal = nullptr;                          // in place of the only step
  boost::container::static_vector<Slot, kMaxFusionOutputs> non_temporal;  // what it writes past the caches
};

// What NumPy sums on its own, one after another; mostly there is one piece only.
struct FusionPlan::Pieces {
  using Sums = std::array<Accumulator, kMaxFusionReductions>;
  boost::container::small_vector<Sums, 1> of;
};

// Reductions along axes of one run.
struct FusionPlan::AxisReductions {
  std::array<AxisReducer, kMaxAxisReductions> of;
  std::array<Ref, kMaxAxisReductions> results;
  std::array<Accumulator, kMaxAxisReductions>
      sums;        // NOLINT(cppcoreguidelines-pro-type-member-init): of a part of a row
  Extent row = 0;  // blocks are whole rows of so many elements, or parts of one as pairwise summation cuts it; 0: any
  const VectorCode* argmin = nullptr;  // of the only step and the only fold in one
};

// One run over arrays that are not all one row of memory.
struct FusionPlan::Space {
  // An array that is no row in the order in which blocks are taken.
  struct Port {
    char* data;
    Strides strides;
    char* block = nullptr;
    Slot slot;
    std::uint8_t item_size;
    bool is_direct;  // where a block does not leave a row it needs no copy
    // The same row again and again: so many elements are in the block, where so many were left in the row.
    Extent laid = 0;
    Extent laid_from = 0;
  };
  struct Operand {
    const Strides* strides = nullptr;  // null: a scalar
    bool is_c = false, is_f = false;   // contiguous, as it is, and of the whole shape
    bool is_broadcast = false;
  };
  Shape shape;
  boost::container::static_vector<View, kMaxFusionInputs> inputs;
  std::array<Strides, kMaxFusionInputs> input_strides;  // which operands have, so the walk has others
  std::array<Strides, kMaxFusionInputs> walked_inputs;
  boost::container::static_vector<View, kMaxFusionOutputs> targets;
  std::array<Strides, kMaxFusionOutputs> target_strides;
  boost::container::static_vector<Operand, kMaxFusionSlots> operands;  // by slots
  std::array<Strides, kMaxFusionSlots> results;                        // of operations, in elements
  std::array<Strides, kMaxFusionOutputs> output_strides;
  std::array<Strides, kMaxFusionOutputs> walked_outputs;
  std::array<Strides, kMaxFusionReductions> reduced_strides;
  std::array<Strides, kMaxAxisReductions> axis_strides;
  std::optional<Walk> walk;
  boost::container::static_vector<Port, kMaxFusionInputs> gathered;
  boost::container::static_vector<Port, kMaxFusionOutputs> scattered;
};

}  // namespace tagalong::array
