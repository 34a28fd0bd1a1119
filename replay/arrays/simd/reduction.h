// Reductions of all elements at the end of a fusion group: NumPy's reduce loops on one block after another, in an order
// that gives NumPy's bits. NumPy sums floats pairwise; blocks are subtrees of NumPy's reduction tree, and their sums
// are added in the same tree. NumPy 1.x builds one tree for each buffer and adds their sums; NumPy 2 builds one tree
// for a row. A test at the first use finds out which. A result whose bits depend on the order of equal values (zeros of
// both signs, payloads of NaNs) is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/row_argmin.h"
#include "replay/arrays/simd/short_axes.h"

namespace tagalong::array {

enum class Reduction : std::uint8_t { kSum, kProd, kMax, kMin, kAny, kAll, kMean, kArgMax, kArgMin, kCount };
[[nodiscard]] constexpr std::string_view reduction_name(Reduction reduction) {
  constexpr std::array<std::string_view, 9> kNames = {"sum", "prod", "max",    "min",   "any",
                                                      "all", "mean", "argmax", "argmin"};
  static_assert(kNames.size() == static_cast<std::size_t>(Reduction::kCount));
  return kNames[static_cast<std::size_t>(reduction)];
}

struct ReductionKernel;
// Reduces contiguous rows, at least eight, each to one element of the results.
using RowsTogether = void (*)(const ReductionKernel& kernel, const char* data, Extent row, Extent rows, char* results);

struct ReductionKernel {
  StridedLoop loop = nullptr;   // null: not for fusion groups
  StridedLoop whole = nullptr;  // for all elements: finish() refuses results whose bits depend on the order
  MethodContext* context = nullptr;
  void* auxdata = nullptr;
  FloatUnits float_units = FloatUnits::kNone;
  std::uint8_t type = 0;  // type of the result
  std::uint8_t item_size = 0;
  std::uint8_t parts = 1;  // of an element: complex numbers have two
  std::uint8_t from = 0;   // type of the operand; differs from `type` for argmin and argmax only
  bool is_pairwise = false;
  bool is_cut_by_buffers = false;        // NumPy sums each buffer by itself
  bool has_known_order = false;          // the loop is sum_loop()'s: leaves of kLeaf doubles, eight partial sums
  bool takes_rows = false;               // reduces whole rows only, along the innermost axis
  RowArgmin rows = nullptr;              // for argmin and argmax of short rows
  RowsTogether rows_together = nullptr;  // for other reductions of short rows
  ShortAxes short_axes;                  // for sums and extremes over short axes
};

// The kernel for arrays of this type; the loop may need a cast (ReductionKernel::from).
[[nodiscard]] const ReductionKernel& reduction_kernel(const Numpy& np, Reduction reduction, unsigned type);

// One value of the loop's type, between blocks.
struct Accumulator {
  alignas(16) char bytes[16];
};

// What is done to the sum of a mean: it is divided by the number of elements less `freedom`. The standard deviation is
// the square root of such a mean.
struct MeanEnd {
  Extent freedom = 0;
  bool has_root = false;
};

// Whether the reduction starts with the first element instead of a neutral element; the loop then reduces the others.
[[nodiscard]] bool begins_with_element(Reduction reduction);
// Whether a reduction along axes takes each row as a whole. Which of two zeros is the extreme depends on where a row is
// cut.
[[nodiscard]] bool needs_whole_rows(const ReductionKernel& kernel, Reduction reduction);
// Initialises the accumulator of a reduction with a neutral element.
void begin(const ReductionKernel& kernel, Reduction reduction, Accumulator* accumulator);
// The neutral element of a subtree's sum, and the sum of two subtrees.
void begin_leaf(const ReductionKernel& kernel, Accumulator* accumulator);
void add_leaves(const ReductionKernel& kernel, const Accumulator& right, Accumulator* left);
// Completes the result; divides for a mean. False: the bits depend on the order of the elements, or eager execution
// warns of the number of elements.
[[nodiscard]] bool finish(const ReductionKernel& kernel, Reduction reduction, Extent count, Accumulator* accumulator,
                          const MeanEnd& end = {});
// Reduces one row with the kernel's loop. False: the loop has reported an exception.
[[nodiscard]] bool reduce_row(const ReductionKernel& kernel, Reduction reduction, const char* data, Extent stride,
                              Extent row, char* result);
// Makes a NumPy scalar; null with an exception set.
[[nodiscard]] PyObject* make_scalar(const Numpy& np, unsigned type, const Accumulator& accumulator);

}  // namespace tagalong::array
