// Reductions of all elements at the end of a fusion group: NumPy's own reduce loops on one block after another, in an
// order that gives NumPy's bits. Sums of floats are pairwise in NumPy: halves of halves down to 128 elements; blocks
// are cut where such halves are, and their sums added in the same tree. NumPy 1.x does so with what its buffers hold,
// one after another, and adds their sums up; since 2.0 with all of a row. What the NumPy at hand does is tried out
// once. Where the bits of a result depend on the order of equal values (zeros of both signs, payloads of NaNs), it is
// refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/row_argmin.h"

namespace tagalong::array {

enum class Reduction : std::uint8_t { kSum, kProd, kMax, kMin, kAny, kAll, kMean, kArgMax, kArgMin, kCount };
[[nodiscard]] constexpr std::string_view reduction_name(Reduction reduction) {
  constexpr std::array<std::string_view, 9> kNames = {"sum", "prod", "max",    "min",   "any",
                                                      "all", "mean", "argmax", "argmin"};
  static_assert(kNames.size() == static_cast<std::size_t>(Reduction::kCount));
  return kNames[static_cast<std::size_t>(reduction)];
}

struct ReductionKernel;
// Of rows that lie one after the other in memory, eight at least, each to an element of the results.
using RowsTogether = void (*)(const ReductionKernel& kernel, const char* data, Extent row, Extent rows, char* results);

struct ReductionKernel {
  StridedLoop loop = nullptr;   // null: not for fusion groups
  StridedLoop whole = nullptr;  // of all elements: the result is refused where its bits depend on their order
  MethodContext* context = nullptr;
  void* auxdata = nullptr;
  FloatUnits float_units = FloatUnits::kNone;
  std::uint8_t type = 0;  // of the result
  std::uint8_t item_size = 0;
  std::uint8_t from = 0;  // of the operand; another one only where places are what is asked for
  bool is_pairwise = false;
  bool is_cut_by_buffers = false;        // a pairwise sum is, of what each holds
  bool has_known_order = false;          // leaves of 128 doubles, each with eight sums
  bool takes_rows = false;               // whole ones only: along the innermost axis
  RowArgmin rows = nullptr;              // of short ones
  RowsTogether rows_together = nullptr;  // of short ones, too: what is asked for is no place
};

// For arrays of this type; the loop may want them cast.
[[nodiscard]] const ReductionKernel& reduction_kernel(const Numpy& np, Reduction reduction, unsigned type);

// One value of the loop's type, between blocks.
struct Accumulator {
  alignas(16) char bytes[16];
};

// Before the first block; `first` is its first element, for those that begin with it (then the loop takes the rest).
[[nodiscard]] bool begins_with_element(Reduction reduction);
void begin(const ReductionKernel& kernel, Reduction reduction, Accumulator* accumulator);
// The neutral sum of a block in a tree of sums, and two of them together.
void begin_leaf(const ReductionKernel& kernel, Accumulator* accumulator);
void add_leaves(const ReductionKernel& kernel, const Accumulator& right, Accumulator* left);
// Division of a mean. False: the bits depend on the order.
[[nodiscard]] bool finish(const ReductionKernel& kernel, Reduction reduction, Extent count, Accumulator* accumulator);
// All of one row by the kernel's loop. False: it says that there is an exception.
[[nodiscard]] bool reduce_row(const ReductionKernel& kernel, Reduction reduction, const char* data, Extent stride,
                              Extent row, char* result);
// A NumPy scalar; null with an exception set.
[[nodiscard]] PyObject* make_scalar(const Numpy& np, unsigned type, const Accumulator& accumulator);

}  // namespace tagalong::array
