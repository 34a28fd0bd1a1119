// The state of one run of a fusion group.
#pragma once

#include <bitset>
#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <limits>

#include "replay/arrays/fusion/fusion_plan.h"
#include "replay/arrays/fusion/space.h"
#include "replay/codegen/vector/reduction_leaves.h"

namespace tagalong::array {

inline constexpr Extent kBlock = 1024;               // elements
inline constexpr std::size_t kItemSize = 8;          // of most dtypes, and of the others at most
inline constexpr std::size_t kLargestItemSize = 16;  // of complex128
inline constexpr std::size_t kCacheLine = 64;
// Where the whole group is one fused kernel, a block is not read again. So blocks are longer: each call of a kernel
// costs time, and at its end the hardware prefetcher loses its streams.
inline constexpr Extent kLongBlock = 8 * kBlock;
// Loops treat the last few elements differently, and the result of a sum or product may show which of two NaNs was the
// first operand. So blocks are multiples of this, except for the last one, which is not shorter.
inline constexpr Extent kMinBlock = 64;
// Elements of rows that one call of machine code computes. Whether it bails out is known at its end.
inline constexpr Extent kMaxSpanElements = 32 * kBlock;
// The cost (costs.h) above which a run releases the GIL.
inline constexpr Extent kGilThreshold = 32768;
// Rows of at least this many elements are not gathered: blocks end where rows do.
inline constexpr Extent kLongRow = kBlock / 8;
inline constexpr Extent kLongRowOfOne = kBlock / 2;  // such a row, where a block is one call of a loop

// Elements of a row whose blocks all fit into the inner caches.
inline constexpr Extent kMaxColumnRow = 8192;

inline constexpr Extent kWhole = std::numeric_limits<Extent>::max();

constexpr std::size_t padded(std::size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

using SlotPointers = std::array<char*, kMaxFusionSlots>;
using RowStrides = std::array<Extent, kMaxFusionSlots>;  // distance in bytes from one row to the next, by slot
using Scalars = std::array<std::array<char, kScalarBytes>, kMaxFusionScalars>;

// What the caller passes to a run.
struct RunArguments {
  const Numpy& np;
  PyObject* const* externals;
  Ref* outputs;
};

struct AxisReductions;

// One run, or the part of a run that one thread computes.
struct RunState {
  SlotPointers data;                            // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  std::array<Extent, kMaxFusionSlots> strides;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  alignas(16) Scalars scalars;
  std::bitset<kMaxFusionOperations> swapped;  // operations whose operands are swapped
  const ArrayFields* shape = nullptr;
  int order = 0;
  Extent count = 1;
  Extent block = 0;
  Extent piece = kWhole;  // elements that are summed pairwise; the sums of all pieces are added in order
  int errors = 0;         // floating point errors raised before a loop that may clear the flags
  bool is_begun = false;  // a block has been reduced
  bool is_refused = false;
  bool is_reused = false;           // a result uses an input's memory: no block of it can be computed again
  bool is_speculative = false;      // speculative execution: results stay in blocks
  bool is_one_by_one = false;       // the steps have bailed out, so operations are computed one by one
  bool is_split_otherwise = false;  // the split differs from eager execution's, and there are NaNs
  std::array<Accumulator, kMaxFusionReductions> reduced;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  AxisReductions* axis_reductions = nullptr;
  ReductionLeaves leaves;
  Extent row = 0;                                 // elements that become one element of a column
  const VectorCode* with_prefetch = nullptr;      // replaces the only step
  const VectorCode* with_non_temporal = nullptr;  // replaces the only step
  boost::container::static_vector<Slot, kMaxFusionOutputs> non_temporal;  // slots written past the caches
};

// Sums of the pieces that NumPy sums separately, one after another; mostly there is only one piece.
struct Pieces {
  using Sums = std::array<Accumulator, kMaxFusionReductions>;
  boost::container::small_vector<Sums, 1> of;
};

// Reductions along axes in one run.
struct AxisReductions {
  std::array<AxisReducer, kMaxAxisReductions> of;
  std::array<Ref, kMaxAxisReductions> results;
  std::array<Accumulator, kMaxAxisReductions>
      sums;        // NOLINT(cppcoreguidelines-pro-type-member-init): of a part of a row
  Extent row = 0;  // blocks are whole rows of this many elements, or parts of one as pairwise summation cuts it; 0: any
  const VectorCode* argmin = nullptr;  // the only step fused with the only axis reduction
};

}  // namespace tagalong::array
