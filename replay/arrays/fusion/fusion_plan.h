// A fusion group: element-wise operations over one iteration space whose intermediate results the program cannot see.
// Blocks go through all operations in turn, each on NumPy's own inner loop or as vector code, and only visible results
// become arrays. A builder gets the operations with the operands of one run and makes a plan. The plan serves all later
// runs whose operands are of the same kinds, whatever their size and layout. It refuses every case that is not exact,
// and then nothing has happened: the caller does the operations one by one. It also refuses a floating point error that
// the errstate does not ignore, since only the single operations report errors in the right order.
//
//   FusionPlanBuilder builder(np);
//   const int x = builder.external(first, 0), y = builder.external(second, 1);
//   const int sum = builder.binary(BinaryOperator::kAdd, x, y, 0);           // negative: not in this fusion group
//   const int root = builder.call(sqrt, {sum}, kAnonymous);
//   auto plan = builder.finish({root});
//   PyObject* externals[] = {first, second}; Ref results[1];
//   if (plan->run(np, externals, results) == FusionReason::kNone) ...
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/array_view.h"
#include "replay/arrays/fusion/axis_reduction.h"
#include "replay/arrays/fusion/fusion_reasons.h"
#include "replay/arrays/fusion/iteration_space.h"
#include "replay/arrays/kernels/costs.h"
#include "replay/arrays/kernels/kernel.h"
#include "replay/arrays/numpy/operators.h"
#include "replay/arrays/simd/reduction.h"
#include "replay/arrays/simd/tally.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

inline constexpr unsigned kMaxFusionOperations = 128;
inline constexpr unsigned kMaxFusionSlots = 255;  // a slot number fits into a byte
inline constexpr unsigned kMaxFusionScalars = 32;
inline constexpr unsigned kMaxFusionOutputs = 8;
inline constexpr unsigned kMaxFusionInputs = 24;
inline constexpr unsigned kMaxFusionReductions = 4;
inline constexpr unsigned kMaxAxisReductions = 4;

// 0: operations are run one by one. 1: as fusion groups where that is faster. 2: as fusion groups always, for tests.
extern int fusion_enabled;

struct FusionCounts {
  std::uint64_t planned = 0;
  std::uint64_t run = 0;
  std::uint64_t whole = 0;      // runs of groups that are all that a function does
  std::uint64_t small = 0;      // runs on the short path
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

class FusionPlan {
 public:
  // `externals` by their numbers; as many `outputs` as the builder got, in that order. The caller holds the GIL; a long
  // computation releases it. kNone: done; any other reason: nothing has happened.
  FusionReason run(const Numpy& np, PyObject* const* externals, Ref* outputs) const;

  [[nodiscard]] std::size_t operation_count() const { return calls_; }
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  // The vector kernels, and the variants of them that runs have asked for.
  [[nodiscard]] std::vector<std::shared_ptr<const VectorCode>> kernels() const;
  // After a refused run: whether the same run may succeed with new memory for all results. It was refused because
  // results had taken the memory of operands.
  [[nodiscard]] bool may_retry_without_reuse() const { return skip_reuse_ == kRunsWithoutReuse; }

 private:
  friend class FusionPlanBuilder;
  friend class PlanPrinter;
  using Slot = std::uint8_t;  // the number of a pointer to memory that loops read or write

  static constexpr unsigned kRunsWithoutReuse = 16;
  struct Input {  // an array, or a part of one
    std::uint16_t external;
    std::int16_t view;  // index in views_, or -1
    std::uint8_t type;
    Slot slot;
  };
  struct Scalar {
    std::uint16_t external;
    OperandCode code;
    std::uint8_t type;  // the loop's operand type
    Slot slot;
  };
  struct Constant {
    alignas(16) std::array<char, kScalarBytes> bytes;
    Slot slot;
    std::uint8_t type = 0;
  };
  // Reductions along the innermost axes give columns, one element for each row. Where later operations use a column,
  // blocks are whole rows.
  enum class Stage : std::uint8_t {
    kElements,
    kColumn,         // a loop over the elements of columns
    kAxisReduction,  // from elements to a column; only where later operations use columns
    kBroadcast       // from a column to elements
  };
  struct Operation {
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
    bool is_masked = false;    // the last two operands: the mask, and the values where it is false
    bool is_copy = false;      // the result is laid out like its operand, as far as possible
    bool is_iterated = false;  // NumPy always uses its iterator here, not the trivial loop
    bool has_result = false;   // an operand is a result of the group
    std::array<std::int16_t, 2> externals{-1, -1};
    std::int16_t layout_of = -1;  // slot: the result is that array, with new contents
    std::int16_t target = -1;     // index in targets_ if the result is such an array, or -1
    Stage stage = Stage::kElements;
    bool drops_axes = false;           // of a column: the reduced axes are dropped
    std::int16_t axis_reduction = -1;  // index in axis_reductions_
    VectorOp vector_op = VectorOp::kNone;
    Cost cost = kPlainCost;  // of the operation's own loop
    // For people. Names belong to kernels, which live as long as the process, or are literals.
    std::string_view name;
    std::uint8_t out_type = 0;
  };
  // The operations in an order in which as many as possible are computed by fused kernels.
  struct Step {
    std::shared_ptr<const VectorCode> code;  // null: the operation's own loop
    std::size_t operation = 0;
    bool is_quotient = false;  // the group only divides an array by a number: NumPy's loop is faster for long blocks
  };
  struct Output {
    PyObject* descr;  // of a new array; null: an external object or a scalar
    std::uint16_t external;
    std::int16_t reduction;       // index in reductions_, or -1
    std::int16_t axis_reduction;  // index in axis_reductions_, or -1
    std::uint8_t item_size;
    Slot slot;
    std::uint8_t type = 0;
    bool is_column = false;
    bool drops_axes = false;
  };
  // An existing array that gets new contents once all is computed: an in-place destination.
  struct Target {
    std::uint16_t external;
    std::int16_t view;
    std::uint8_t type;
    Slot slot;
    std::size_t written = 0;  // the first operation that writes it
    std::uint64_t later = 0;  // bit i: inputs_[i] is read after that operation
  };
  struct Reduced {
    const ReductionKernel* kernel;
    Reduction reduction;
    Slot slot;
  };
  struct AxisReduction {
    const ReductionKernel* kernel;
    Reduction reduction;
    ReducedAxes axes;
    Slot slot;
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
  struct Frame;
  struct Space;
  struct AxisReductions;

  using SlotPointers = std::array<char*, kMaxFusionSlots>;
  using RowStrides = std::array<Extent, kMaxFusionSlots>;  // distance in bytes from one row to the next, by slot
  using Scalars = std::array<std::array<char, kScalarBytes>, kMaxFusionScalars>;

  [[nodiscard]] bool may_be_small() const;
  bool compute_small(const SlotPointers& data, Extent count) const;
  // False: nothing has happened.
  bool run_small(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  [[nodiscard]] PyObject* reused_buffer(const Frame& frame, const Space* space, PyObject* const* externals) const;
  bool bind_scalar_values(const Numpy& np, PyObject* const* externals, SlotPointers* data, Scalars* scalars) const;
  FusionReason bind(const Numpy& np, PyObject* const* externals, Frame* frame) const;
  bool bind_scalars(const Numpy& np, PyObject* const* externals, Frame* frame) const;
  FusionReason bind_elision(PyObject* const* externals, Frame* frame) const;
  FusionReason bind_space(const Numpy& np, PyObject* const* externals, Frame* frame, Space* space) const;
  FusionReason bind_views(const Numpy& np, PyObject* const* externals, Space* space) const;
  FusionReason bind_axis_reductions(const Numpy& np, const Frame& frame, const Space* space,
                                    AxisReductions* axis_reductions) const;
  FusionReason bind_layouts(const Numpy& np, PyObject* const* externals, Frame* frame, Space* space) const;
  void bind_walk(const Numpy& np, Frame* frame, Space* space) const;
  [[nodiscard]] const Input* input_of(Slot slot) const;
  static constexpr int kUnknownElision = -2;
  int elided_operand(const Numpy& np, const Operation& operation, PyObject* const* externals, const Frame& frame,
                     const Space& space) const;
  [[nodiscard]] bool is_profitable(const Numpy& np, Frame* frame, const Space& space) const;
  FusionReason run_general(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  FusionReason run_in_space(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame) const;
  FusionReason execute(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame, Space* space) const;
  bool compute(Frame* frame, Space* space) const;
  void finish_reductions(Frame* frame) const;
  void place_blocks(char* blocks, std::size_t bytes, Frame* frame, Space* space) const;
  // The blocks of all parts, the bytes of each part, and the bytes of each block.
  struct PartMemory {
    std::size_t parts;
    char* blocks;
    std::size_t each, block;
  };
  FusionReason compute_and_check(const Numpy& np, Frame* frame, Space* space, const PartMemory& memory) const;
  FusionReason run_speculatively(const Numpy& np, Frame* frame, Space* space, const PartMemory& memory) const;
  bool make_results(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame, Space* space) const;
  [[nodiscard]] Ref make_result(const Numpy& np, std::size_t number, const Frame& frame, const Space* space) const;
  bool store_reductions(const Numpy& np, Ref* outputs, const Frame& frame) const;
  [[nodiscard]] Extent block_of(const Frame& frame, const Space* space) const;
  [[nodiscard]] bool may_be_in_place(const Numpy& np, const Frame& frame, const Space* space) const;
  bool is_unnoticed_in_place(const Numpy& np, Frame* frame, const Space* space) const;
  // How an in-place destination gets its new contents.
  enum class WriteMode : std::uint8_t { kCopied, kSpeculative, kInPlace };
  WriteMode write_mode(const Numpy& np, Frame* frame, const Space* space, std::size_t parts) const;
  [[nodiscard]] bool are_bounded(const Frame& frame, double most) const;
  bool cannot_raise(const Numpy& np, const Frame& frame, const Space& space, std::size_t parts) const;
  void place_targets(const Numpy& np, Space* space) const;
  struct Part;
  [[nodiscard]] bool may_split(const Frame& frame) const;
  [[nodiscard]] std::size_t part_count(const Frame& frame) const;
  bool compute_in_parallel(Frame* frame, Space* space, const PartMemory& memory) const;
  void compute_part(const Frame& whole, const Space* space, const PartMemory& memory, std::size_t number,
                    Part* part) const;
  void split_tree(Extent begin, Extent count, Extent unit, std::size_t parts, std::vector<Part>* cut) const;
  void add_tree(std::size_t parts, const Part*& next, Accumulator* sums) const;
  bool compute_tree(Frame* frame, Space* space, Extent count, Accumulator* sums) const;
  struct Pieces;
  bool compute_pieces(Frame* frame, Space* space, Extent count, Pieces* pieces) const;
  void add_pieces(const Pieces& pieces, Frame* frame) const;
  bool compute_rows(Frame* frame, Space* space) const;
  bool compute_row(Frame* frame, Space* space, Extent count, Accumulator* sums) const;
  bool compute_long_row(Frame* frame, Space* space, Extent row) const;
  [[nodiscard]] const VectorCode* only_code() const;
  void begin_argmin(const Frame& frame, const Space* space) const;
  Extent run_argmin(Frame* frame, Space* space) const;
  bool reduce_axes_of_block(Frame* frame, Extent count) const;
  FusionReason bind_column(const Operation& operation, Frame* frame, Space* space) const;
  [[nodiscard]] Shape column_shape(const Shape& shape, bool drops_axes) const;
  bool compute_staged(const Operation& operation, Frame* frame, Extent count) const;
  bool compute_next(Frame* frame, Space* space, Extent count) const;
  [[nodiscard]] bool has_row_spans(const Frame& frame, const Space& space) const;
  struct RowSpan {
    Extent rows, row;  // `rows` rows of `row` elements
  };
  [[nodiscard]] static RowSpan row_span(const Space& space, Extent left);
  bool compute_row_span(Frame* frame, Space* space, const RowSpan& row_span) const;
  bool has_nans(const Frame& frame, Extent count) const;
  bool reduce_block(Frame* frame, Extent count) const;
  bool compute_block(Frame* frame, Extent count) const;
  [[nodiscard]] bool takes_long_blocks(const Space* space) const;
  [[nodiscard]] Extent tree_block(const Frame& frame, const Space* space) const;
  bool compute_one_by_one(Frame* frame, Extent count) const;
  void advance(Frame* frame, Extent count) const;
  static bool compute_masked(const Operation& operation, char** data, const Extent* strides, Extent count);
  bool compute_operation(std::size_t number, Frame* frame, Extent count) const;
  void begin_non_temporal(Frame* frame, const Space* space) const;
  void begin_prefetching(Frame* frame, const Space* space) const;
  [[nodiscard]] bool is_bound_by_memory() const;
  [[nodiscard]] Extent bytes_moved() const;
  static bool may_store_non_temporal(const Frame& frame);
  enum class Outcome : std::uint8_t { kDone, kFailed, kOpen };
  Outcome compute_steps(Frame* frame, Extent count) const;

  std::vector<Input> inputs_;
  std::vector<Scalar> scalars_;
  std::vector<Constant> constants_;
  std::vector<ViewSpec> views_;
  std::vector<Operation> operations_;
  std::vector<Step> steps_;  // empty: one operation after the other
  VectorSum sum_;            // the sum that the steps compute, too
  mutable std::shared_ptr<const VectorCode>
      with_non_temporal_;  // the only step with non-temporal stores; made when first needed
  mutable bool is_non_temporal_made_ = false;
  mutable std::shared_ptr<const VectorCode>
      with_prefetch_;  // the only step with software prefetch; made when first needed
  mutable bool is_with_prefetch_made_ = false;
  using Items = boost::container::static_vector<Slot, kMaxFusionInputs>;
  struct Argmin {
    std::shared_ptr<const VectorCode> code;  // null: it could not be made
    Extent row = 0;
    Items items;
  };
  // The only step fused with an argmin over rows of one length. Made when first needed and kept for good, since runs
  // that have released the GIL use it.
  mutable std::vector<Argmin> argmins_;
  mutable Extent argmin_elements_ = 0;         // elements of all runs that had no such code
  std::vector<std::pair<Slot, Extent>> rows_;  // inputs that steps read as rows of memory, with their item sizes
  std::vector<Output> outputs_;
  std::vector<Target> targets_;
  std::vector<Temporary> temporaries_;
  ReusedBuffer reused_buffer_;
  mutable unsigned skip_reuse_ = 0;  // remaining runs that do not reuse the buffer
  std::vector<Reduced> reductions_;
  std::vector<AxisReduction> axis_reductions_;
  int nd_ = 0;                       // number of dimensions; 0: any
  bool is_fused_ = false;            // all operations are one step
  bool stores_no_nans_ = false;      // steps bail out where they would store a NaN
  bool is_small_ = false;            // the short path may be possible
  std::vector<Extent> item_sizes_;   // by slot: the step in a row of memory; 0 for numbers
  mutable unsigned skip_small_ = 0;  // remaining runs that do not try the short path
  bool is_staged_ = false;           // operations use columns
  bool is_tree_ = false;             // a reduction is a pairwise sum
  bool is_cut_by_buffers_ = false;   // NumPy cuts some sum at its buffers (ReductionKernel)
  bool depends_on_strides_ = false;  // a loop, such as a sine, uses another algorithm for strided operands
  bool is_serial_ = false;           // a loop may set an exception, or a reduction goes through all blocks in order
  bool has_masks_ = false;           // `where=`: loops begin at any element
  bool reduces_inputs_ = false;      // existing arrays are reduced, so each has to be one row of memory
  bool shows_signs_ = false;         // results without NaNs show the sign or payload of NaNs
  std::size_t calls_ = 0;            // operations without casts
  Extent cost_ = 0;                  // cost of an element in all operations and reductions
  std::size_t new_array_operations_ = 0;  // operations for whose results eager execution makes new arrays
  std::uint16_t buffers_ = 0;
  std::size_t slots_ = 0;
  bool is_iterated_ = false;
  FloatUnits float_units_ = FloatUnits::kNone;
};

class FusionPlanBuilder {
 public:
  explicit FusionPlanBuilder(const Numpy& np) : np_(np), plan_(std::make_unique<FusionPlan>()) {}

  // Objects have numbers. An external object is this run's; the plan reads the object with that number in each run.
  int external(PyObject* object, unsigned number);
  // The same number in all runs. Negative: the object is not a Python number.
  int constant(PyObject* object);
  // A part of an external array without an object of its own. Negative: the part cannot be described by slices and
  // integers. `externals` holds the numbers in the slices.
  int view(ViewSpec spec, PyObject* object, PyObject* const* externals);

  // Returns the number of the result. Negative: the operation is not part of the fusion group, which ends before it.
  // In-place operators return the number of their left operand. `temporaries` is as in ufunc_site.h.
  int binary(BinaryOperator op, int left, int right, unsigned temporaries);
  int unary(UnaryOperator op, int operand, unsigned temporaries);
  int compare(int py_op, int left, int right);
  // `out` and `where`: numbers of those arrays, or negative.
  int call(PyObject* ufunc, std::span<const int> operands, int out = -1, int where = -1);
  int where(int condition, int one, int other);
  int astype(int operand, PyObject* descr);
  int clip(int operand, int low, int high);
  // Assigns the value to a view or an external array; the result has no meaning.
  int assign(int target, int value);
  // Reduces all elements to a scalar, which cannot be an operand in the same fusion group.
  int reduce(Reduction reduction, int operand);
  // Reduces along these axes to an array; to a scalar if these are all axes and dimensions are not kept.
  int reduce(Reduction reduction, int operand, std::span<const int> axes, bool keeps_dims);

  // `outputs`: numbers of the arrays that are visible afterwards; each is the result of an operation.
  std::unique_ptr<FusionPlan> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const { return plan_->calls_; }
  // A single operation is faster as a group only where eager execution goes through Python code, or through buffers.
  [[nodiscard]] bool is_profitable_alone() const {
    return !plan_->reductions_.empty() || !plan_->axis_reductions_.empty() ||
           std::ranges::any_of(plan_->operations_, &FusionPlan::Operation::is_cast);
  }
  // Whether an external array gets new contents.
  [[nodiscard]] bool is_written(int object) const { return objects_[static_cast<std::size_t>(object)].target >= 0; }
  // Whether the object is the scalar result of a reduction.
  [[nodiscard]] bool is_scalar(int object) const { return objects_[static_cast<std::size_t>(object)].reduction >= 0; }
  // Whether the object is a reduction along some axes, or the result of operations on such columns.
  [[nodiscard]] bool is_column(int object) const { return objects_[static_cast<std::size_t>(object)].is_column; }
  // Whether any existing array gets new contents.
  [[nodiscard]] bool writes() const { return !plan_->targets_.empty(); }
  // The type number of an array.
  [[nodiscard]] unsigned type_of(int object) const {
    return array::type_of(objects_[static_cast<std::size_t>(object)].code);
  }
  // An object such as a run would make for this result; empty: there is no memory.
  [[nodiscard]] Ref placeholder(int object);
  // Allows a result to take the memory of this external array, which is new and not used after a run.
  void reuse_buffer(int external) { reused_.push_back(external); }
  // Why the last operation is not part of the fusion group.
  [[nodiscard]] FusionReason reason() const { return reason_; }
  int refused(FusionReason reason) { return refuse(reason); }

 private:
  struct Object {
    PyObject* object = nullptr;  // borrowed; null: a result
    OperandCode code = kForeign;
    bool is_constant = false;
    bool is_result = false;
    std::int16_t external = -1;
    std::int16_t view = -1;
    int slot = -1;    // of an array
    int target = -1;  // index in plan_->targets_ once it has been written
    std::int16_t reduction = -1;
    std::int16_t axis_reduction = -1;
    bool is_column = false;
    bool drops_axes = false;
    View place;  // of an external array, in this run
  };
  struct Request {
    PyObject* ufunc;
    std::array<int, kMaxInputs> operands;
    unsigned nin;
    unsigned temporaries = 0;
    Elision elision = Elision::kNever;
    bool inplace = false;
    int out = -1;
    int where = -1;
    std::string_view name = {};  // the function, where the operation is not a ufunc
  };

  int apply(const Request& request);
  int emit(const Kernel& kernel, const Request& request);
  [[nodiscard]] bool is_integer_number(int object, unsigned type) const;
  int refuse(FusionReason reason) {
    reason_ = reason;
    return -1;
  }
  Object& at(int number) { return objects_[static_cast<std::size_t>(number)]; }
  bool fits(const Request& request, bool* is_column);
  [[nodiscard]] Shape shape_of(const Object& object) const;
  bool may_be_reduced(int operand);
  bool stage();
  [[nodiscard]] bool takes_one_result(const Request& request) const;
  int broadcast_slot(int slot, unsigned type);
  bool is_array_object(int object) const;
  int slot_of(int number, unsigned type);
  int scalar_slot(int number, unsigned type);
  int cast_slot(int slot, unsigned from, unsigned to, bool is_column = false);
  bool write(Object* object, int slot);
  int new_slot() { return slots_ < static_cast<int>(kMaxFusionSlots) ? slots_++ : -1; }
  struct FusedCode {
    // Results that another step reads from memory have blocks of their own.
    std::array<bool, kMaxFusionSlots> in_memory{};
  };
  void fuse_vector_code(FusedCode* fused);
  VectorSum fused_sum(std::span<const VectorOperation> operations);
  void remove_unread();
  void assign_temporaries(const FusedCode& fused);
  void record_item_sizes();
  void choose_reused_buffer();
  [[nodiscard]] bool may_be_reused() const;
  [[nodiscard]] bool is_reduced_itself(int slot) const;
  void add_costs();

  const Numpy& np_;
  std::unique_ptr<FusionPlan> plan_;
  std::vector<Object> objects_;
  std::map<std::pair<int, unsigned>, int> scalar_slots_;  // by object and operand type of the loop
  std::map<std::pair<int, unsigned>, int> cast_slots_;    // by slot and operand type of the loop
  std::map<int, int> broadcast_slots_;                    // by slot
  std::vector<int> reused_;                               // externals whose memory may be reused
  Shape space_;
  bool has_space_ = false;
  int slots_ = 0;
  FusionReason reason_ = FusionReason::kNone;
};

}  // namespace tagalong::array
