// The plan of a fusion group: which operands it reads, what it computes, in which steps, and what it returns. A plan is
// data: a builder makes it, nothing changes it afterwards, and any number of threads may read it. fusion_group.h runs
// it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/array_view.h"
#include "replay/arrays/fusion/axis_reduction.h"
#include "replay/arrays/fusion/fusion_counts.h"
#include "replay/arrays/fusion/fusion_limits.h"
#include "replay/arrays/fusion/fusion_reasons.h"
#include "replay/arrays/fusion/iteration_space.h"
#include "replay/arrays/kernels/costs.h"
#include "replay/arrays/kernels/kernel.h"
#include "replay/arrays/simd/reduction.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

struct PlanInput {  // an array, or a part of one
  std::uint16_t external;
  std::int16_t view;  // index in views, or -1
  std::uint8_t type;
  Slot slot;
};

struct PlanScalar {
  std::uint16_t external;
  OperandCode code;
  std::uint8_t type;  // the loop's operand type
  Slot slot;
};

struct PlanConstant {
  alignas(16) std::array<char, kScalarBytes> bytes;
  Slot slot;
  std::uint8_t type = 0;
};

// Reductions along the innermost axes give columns, one element for each row. Where later operations use a column,
// blocks are whole rows.
enum class OperationExtent : std::uint8_t {
  kElements,
  kColumn,         // a loop over the elements of columns
  kAxisReduction,  // from elements to a column; only where later operations use columns
  kBroadcast       // from a column to elements
};

struct PlanOperation {
  StridedLoop loop = nullptr;
  MethodContext* context = nullptr;
  void* auxdata = nullptr;
  std::array<Slot, kMaxInputs + 1> slots{};  // operands, then the result
  std::uint8_t nin = 0;
  std::uint8_t out_size = 0;
  std::uint8_t elidable = 0;  // bit i: eager NumPy would compute into operand i if it is large
  bool collects = false;      // the loop may clear floating point flags, so they are collected before
  bool keeps_flags = false;
  bool is_cast = false;
  bool is_masked = false;        // the last two operands: the mask, and the values where it is false
  bool is_copy = false;          // the result is laid out like its operand, as far as possible
  bool is_row_major = false;     // the result is laid out in C order, unless the operand is in Fortran order
  bool is_c_copy = false;        // the result is C-contiguous
  bool is_iterated = false;      // NumPy always uses its iterator here, not the trivial loop
  bool has_result = false;       // an operand is a result of the group
  bool follows_strides = false;  // the loop, such as a sine, uses another algorithm for strided operands
  std::array<std::int16_t, 2> externals{-1, -1};
  std::int16_t layout_of = -1;  // slot: the result is that array, with new contents
  std::int16_t target = -1;     // index in targets if the result is such an array, or -1
  OperationExtent extent = OperationExtent::kElements;
  bool drops_axes = false;           // of a column: the reduced axes are dropped
  std::int16_t axis_reduction = -1;  // index in axis_reductions
  VectorOp vector_op = VectorOp::kNone;
  LaneType lane_type = LaneType::kFloat64;    // of the operands, unless they are bools; of a cast, of the result
  bool is_complex = false;                    // of the vector code: there are numbers with two parts of that type
  bool is_half = false;                       // the same, float16
  LaneType memory_type = LaneType::kFloat64;  // of the operand of kWiden, and of the result of kNarrow
  Cost cost = kPlainCost;                     // of the operation's own loop
  // For people. Names belong to kernels, which live as long as the process, or are literals.
  std::string_view name;
  std::uint8_t out_type = 0;

  [[nodiscard]] Slot out() const { return slots[nin]; }
};

// The operations in an order in which as many as possible are computed by fused kernels.
struct PlanStep {
  std::shared_ptr<const VectorCode> code;  // null: the operation's own loop
  // Operations whose bits depend on the order of their operands, and the code for a run that swaps all of these.
  std::vector<std::uint16_t> swappable;
  std::shared_ptr<const VectorCode> swapped_code;
  std::size_t operation = 0;
  bool is_quotient = false;  // the group only divides an array by a number: NumPy's loop is faster for long blocks

  using Swapped = std::bitset<kMaxFusionOperations>;
  // The code for a run that swaps these operations. Null: there is none.
  [[nodiscard]] const VectorCode* code_for(const Swapped& swapped) const {
    std::size_t count = 0;
    for (const std::uint16_t number : swappable) {
      count += swapped[number] ? 1 : 0;
    }
    return count == 0 ? code.get() : count == swappable.size() ? swapped_code.get() : nullptr;
  }
};

struct PlanOutput {
  PyObject* descr;  // of a new array; null: an external object or a scalar
  std::uint16_t external;
  std::int16_t reduction;       // index in reductions, or -1
  std::int16_t axis_reduction;  // index in axis_reductions, or -1
  std::uint8_t item_size;
  Slot slot;
  std::uint8_t type = 0;
  bool is_column = false;
  bool drops_axes = false;
  bool is_shared = false;  // a view of another new array, which has one dimension
};

// An existing array that gets new contents once all is computed: an in-place destination.
struct PlanTarget {
  std::uint16_t external;
  std::int16_t view;
  std::uint8_t type;
  Slot slot;
  std::size_t written = 0;  // the first operation that writes it
  std::uint64_t later = 0;  // bit i: inputs[i] is read after that operation
};

struct PlanReduction {
  const ReductionKernel* kernel;
  Reduction reduction;
  Slot slot;
  MeanEnd end = {};
};

struct PlanAxisReduction {
  const ReductionKernel* kernel;
  Reduction reduction;
  ReducedAxes axes;
  Slot slot;
  MeanEnd end = {};
};

// An array that is not used after the run: its memory becomes that of an output.
struct ReusedBuffer {
  std::int16_t output = -1;
  std::uint16_t external = 0;
};

struct Temporary {
  Slot slot;
  std::uint8_t item_size;
  std::uint16_t buffer;
};

// How the elements may be cut into blocks.
enum class BlockCut : std::uint8_t {
  kAnywhere,
  kAsSums,    // as pairwise summation cuts them, since all elements are summed
  kWholeRows  // between rows, since operations use columns
};

struct FusionPlan {
  std::vector<PlanInput> inputs;
  std::vector<PlanScalar> scalars;
  std::vector<PlanConstant> constants;
  std::vector<ViewSpec> views;
  std::vector<PlanOperation> operations;
  std::vector<PlanReduction> reductions;
  std::vector<PlanAxisReduction> axis_reductions;
  std::vector<PlanOutput> outputs;
  std::vector<PlanTarget> targets;
  ReusedBuffer reused_buffer;

  std::vector<PlanStep> steps;                // empty: one operation after the other
  VectorSum sum;                              // the sum that the steps compute, too
  std::vector<std::pair<Slot, Extent>> rows;  // inputs that steps read as rows of memory, with their item sizes
  std::vector<Temporary> temporaries;
  std::vector<Extent> item_sizes;  // by slot: the step in a row of memory; 0 for numbers
  std::size_t slots = 0;
  std::uint16_t buffers = 0;
  std::size_t item_bytes = 8;  // of the largest dtype, at least a double

  int nd = 0;  // number of dimensions; 0: any
  BlockCut cut = BlockCut::kAnywhere;
  Extent sum_parts = 1;  // of an element that is summed: complex numbers have two
  FloatUnits float_units = FloatUnits::kNone;
  bool is_fused = false;                 // all operations are one step
  bool stores_no_nans = false;           // steps bail out where they would store a NaN
  bool is_small = false;                 // the short path may be possible
  bool is_iterated = false;              // NumPy uses its iterator for some operation
  bool is_cut_by_buffers = false;        // NumPy cuts some sum at its buffers (ReductionKernel)
  bool depends_on_strides = false;       // the loop of some operation follows strides
  bool needs_rows = false;               // such a loop has a mask, so each array has to be one row of memory
  bool is_serial = false;                // a loop may set an exception, or a reduction goes through all blocks in order
  bool has_masks = false;                // `where=`: loops begin at any element
  bool reduces_inputs = false;           // existing arrays are reduced, so each has to be one row of memory
  bool may_differ_alone = false;         // of two NaNs, NumPy may show another one where arrays have one element
  bool has_complex = false;              // a loop depends on whether a stride is negative
  bool reads_components = false;         // eager's loops read real or imaginary parts with gaps between them
  bool shows_signs = false;              // results without NaNs show the sign or payload of NaNs
  std::size_t calls = 0;                 // operations without casts
  Extent cost = 0;                       // cost of an element in all operations and reductions
  std::size_t new_array_operations = 0;  // operations for whose results eager execution makes new arrays

  [[nodiscard]] bool is_cut_by_rows() const { return cut == BlockCut::kWholeRows; }
  [[nodiscard]] bool is_tree() const { return cut == BlockCut::kAsSums; }
  // Whether every element is computed by itself, so that a block may begin and end anywhere.
  [[nodiscard]] bool is_elementwise() const {
    return cut == BlockCut::kAnywhere && !has_masks && reductions.empty() && axis_reductions.empty();
  }
  // The index of the input that the slot is, or a cast of which the slot is; negative: the slot is another value.
  [[nodiscard]] int input_at(Slot slot) const;
  // The shape of a column of results for arrays of this shape.
  [[nodiscard]] Shape column_shape(const Shape& shape, bool drops_axes) const;
};

}  // namespace tagalong::array
