// A fusion group: element-wise operations over one iteration space whose intermediate results nobody can see. They run
// block by block, each on NumPy's own inner loop, and only what is visible becomes an array. A builder is told the
// operations with the operands of one run and makes a plan; the plan serves every later run whose operands are of the
// same kinds, whatever their size and layout, and refuses, with nothing having happened, whatever is not an exact case:
// then the caller does the operations one by one. Floating point errors are such a case unless the errstate ignores
// them: who reports them, and in which order, is best known to the operations themselves.
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
inline constexpr unsigned kMaxFusionSlots = 255;  // a byte each
inline constexpr unsigned kMaxFusionScalars = 32;
inline constexpr unsigned kMaxFusionOutputs = 8;
inline constexpr unsigned kMaxFusionInputs = 24;
inline constexpr unsigned kMaxFusionReductions = 4;
inline constexpr unsigned kMaxAxisReductions = 4;

// 0: operations are run one by one. 2: fusion groups are also where they do not pay, for tests.
extern int fusion_enabled;

struct FusionCounts {
  std::uint64_t planned = 0;
  std::uint64_t run = 0;
  std::uint64_t whole = 0;      // of these: all that a function does
  std::uint64_t small = 0;      // of these: on the short way
  std::uint64_t in_passes = 0;  // several in a row that are one
  std::uint64_t reused = 0;     // results in the memory of what was there before
  std::uint64_t parts = 0;      // of those that several threads may have computed
  Tally non_temporal;           // blocks whose results were written past the caches
  Tally prefetched;             // blocks that were asked for before they were read
  Tally fused_sums;             // blocks that were summed while they were computed
  Tally rows_kept;              // blocks of the same row again and again that were there already
  Tally rows_together;          // that lie apart, computed with others by one call of machine code
  Tally long_parts;             // of rows, longer than a block, by one call of machine code
  std::uint64_t in_place =
      0;  // into arrays that are there already, since nothing would be reported, or nobody could tell when
  std::uint64_t twice = 0;    // of those that were computed a second time, into arrays that are there already
  std::uint64_t refused = 0;  // floating point errors, or an exception: the operations were done again, one by one
  FusionReasonCounts reasons;
};
extern FusionCounts fusion_counts;

// Bytes of a row of doubles from which on a target may be computed in place (in_place.cpp).
extern long min_in_place;

class FusionPlan {
 public:
  // `externals` by their numbers, as many `outputs` as the builder was told, in that order. Needs the GIL; gives it
  // away while it computes for long. kNone: done; anything else: nothing has happened.
  FusionReason run(const Numpy& np, PyObject* const* externals, Ref* outputs) const;

  [[nodiscard]] std::size_t operation_count() const { return calls_; }
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  // The vector kernels, and the variants of them that runs have asked for.
  [[nodiscard]] std::vector<std::shared_ptr<const VectorCode>> kernels() const;
  // After a run that was refused: whether it will do if it is tried again, from new operands, since the memory of this
  // run's could not be that of the results.
  [[nodiscard]] bool wants_its_own() const { return not_reused_ == kNotReused; }

 private:
  friend class FusionPlanBuilder;
  friend class PlanPrinter;
  using Slot = std::uint8_t;  // a place in memory that loops read or write

  static constexpr unsigned kNotReused = 16;
  struct Input {  // an array, or a part of one
    std::uint16_t external;
    std::int16_t view;  // of views_, or -1
    std::uint8_t type;
    Slot slot;
  };
  struct Scalar {
    std::uint16_t external;
    OperandCode code;
    std::uint8_t type;  // of the loop
    Slot slot;
  };
  struct Constant {
    alignas(16) std::array<char, kScalarBytes> bytes;
    Slot slot;
    std::uint8_t type = 0;
  };
  // Reductions along the innermost axes give columns, one element of each row. Where later operations take part of
  // them, blocks are whole rows.
  enum class Stage : std::uint8_t {
    kElements,
    kColumn,         // a loop over the elements of columns
    kAxisReduction,  // from elements to a column; only where columns are taken part of
    kBroadcast       // from a column to elements
  };
  struct Operation {
    StridedLoop loop = nullptr;
    MethodContext* context = nullptr;
    void* auxdata = nullptr;
    std::array<Slot, kMaxInputs + 1> slots{};  // the last one is that of the result
    std::uint8_t nin = 0;
    std::uint8_t out_size = 0;
    std::uint8_t elidable = 0;  // bit i: eager would compute into operand i, if it is large
    bool collects = false;      // the loop may clear floating point flags: they are taken before
    bool keeps_flags = false;
    bool is_cast = false;
    bool is_masked = false;    // the last two operands: where it is computed, and what is elsewhere
    bool is_copy = false;      // laid out as its operand, as far as that goes
    bool is_iterated = false;  // NumPy never takes its short way
    bool has_result = false;   // among its operands
    std::array<std::int16_t, 2> externals{-1, -1};
    std::int16_t layout_of = -1;  // slot: the result is that array, with new contents
    std::int16_t target = -1;     // of targets_: the result is that one
    Stage stage = Stage::kElements;
    bool drops_axes = false;           // of a column
    std::int16_t axis_reduction = -1;  // of folds_
    VectorOp vector_op = VectorOp::kNone;
    Cost cost = kPlainCost;  // of its own loop
    // For people. Names belong to kernels, which live as long as the process, or are literals.
    std::string_view name;
    std::uint8_t out_type = 0;
  };
  // The same operations in an order in which as many as possible are computed by one loop of their own.
  struct Step {
    std::shared_ptr<const VectorCode> code;  // null: the operation's own loop
    std::size_t operation = 0;
    bool is_quotient = false;  // of an array by a number, and nothing else: the loop is faster where blocks are long
  };
  struct Output {
    PyObject* descr;  // of a new array; null: the object is an external one, or a scalar
    std::uint16_t external;
    std::int16_t reduction;       // -1: not one of those
    std::int16_t axis_reduction;  // -1: not one of those
    std::uint8_t item_size;
    Slot slot;
    std::uint8_t type = 0;
    bool is_column = false;
    bool drops_axes = false;
  };
  // An array that is there already and gets new contents once all is computed.
  struct Target {
    std::uint16_t external;
    std::int16_t view;
    std::uint8_t type;
    Slot slot;
    std::size_t written = 0;  // by which operation first
    std::uint64_t later = 0;  // bit i: inputs_[i] is read after that
  };
  struct Reduced {
    const ReductionKernel* kernel;
    Reduction reduction;
    Slot slot;
  };
  struct AxisReduction {  // along some axes
    const ReductionKernel* kernel;
    Reduction reduction;
    ReducedAxes axes;
    Slot slot;
  };
  // An array that nobody takes after the run: its memory becomes that of an output.
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

  using Places = std::array<char*, kMaxFusionSlots>;
  using Steps = std::array<Extent, kMaxFusionSlots>;  // from a row to the next one, in bytes
  using Scalars = std::array<std::array<char, kScalarBytes>, kMaxFusionScalars>;

  [[nodiscard]] bool may_be_small() const;
  bool compute_few(const Places& data, Extent count) const;
  // False: nothing has happened.
  bool run_small(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  [[nodiscard]] PyObject* reused_buffer(const Frame& frame, const Space* space, PyObject* const* externals) const;
  bool place_scalars(const Numpy& np, PyObject* const* externals, Places* data, Scalars* scalars) const;
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
  [[nodiscard]] bool pays(const Numpy& np, Frame* frame, const Space& space) const;
  FusionReason run_generally(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  FusionReason run_in_space(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame) const;
  FusionReason execute(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame, Space* space) const;
  bool compute(Frame* frame, Space* space) const;
  void finish_reductions(Frame* frame) const;
  void place_blocks(char* blocks, std::size_t bytes, Frame* frame, Space* space) const;
  // Where the blocks of all parts are, and how many bytes of each part and block.
  struct PartMemory {
    std::size_t parts;
    char* blocks;
    std::size_t each, block;
  };
  FusionReason compute_and_check(const Numpy& np, Frame* frame, Space* space, const PartMemory& memory) const;
  FusionReason try_out(const Numpy& np, Frame* frame, Space* space, const PartMemory& memory) const;
  bool make_results(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame, Space* space) const;
  [[nodiscard]] Ref make_result(const Numpy& np, std::size_t number, const Frame& frame, const Space* space) const;
  bool give_reduced(const Numpy& np, Ref* outputs, const Frame& frame) const;
  [[nodiscard]] Extent block_of(const Frame& frame, const Space* space) const;
  [[nodiscard]] bool may_be_in_place(const Numpy& np, const Frame& frame, const Space* space) const;
  bool is_unnoticed_in_place(const Numpy& np, Frame* frame, const Space* space) const;
  // How an array that is there already gets its new contents.
  enum class Writing : std::uint8_t { kCopied, kTried, kAtOnce };
  Writing writing(const Numpy& np, Frame* frame, const Space* space, std::size_t parts) const;
  [[nodiscard]] bool are_bounded(const Frame& frame, double most) const;
  bool cannot_raise(const Numpy& np, const Frame& frame, const Space& space, std::size_t parts) const;
  void place_targets(const Numpy& np, Space* space) const;
  struct Part;
  [[nodiscard]] bool may_be_cut(const Frame& frame) const;
  [[nodiscard]] std::size_t part_count(const Frame& frame) const;
  bool compute_in_parallel(Frame* frame, Space* space, const PartMemory& memory) const;
  void compute_part(const Frame& whole, const Space* space, const PartMemory& memory, std::size_t number,
                    Part* part) const;
  void cut_tree(Extent begin, Extent count, Extent unit, std::size_t parts, std::vector<Part>* cut) const;
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
  Extent find_argmin(Frame* frame, Space* space) const;
  bool reduce_axes_of_block(Frame* frame, Extent count) const;
  FusionReason bind_column(const Operation& operation, Frame* frame, Space* space) const;
  [[nodiscard]] Shape column_shape(const Shape& shape, bool drops_axes) const;
  bool compute_staged(const Operation& operation, Frame* frame, Extent count) const;
  bool compute_next(Frame* frame, Space* space, Extent count) const;
  [[nodiscard]] bool has_rows_together(const Frame& frame, const Space& space) const;
  struct Together {
    Extent rows, row;  // of so many elements
  };
  [[nodiscard]] static Together together(const Space& space, Extent left);
  bool compute_together(Frame* frame, Space* space, const Together& together) const;
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
  VectorSum sum_;            // that the steps compute, too
  mutable std::shared_ptr<const VectorCode>
      with_non_temporal_;  // the only step, writing past the caches; once it is needed
  mutable bool is_non_temporal_made_ = false;
  mutable std::shared_ptr<const VectorCode>
      with_prefetch_;  // the only step, asking for memory ahead; once it is needed
  mutable bool is_with_prefetch_made_ = false;
  using Items = boost::container::static_vector<Slot, kMaxFusionInputs>;
  struct Argmin {
    std::shared_ptr<const VectorCode> code;  // null: there is none
    Extent row = 0;
    Items items;
  };
  // The only step, finding places in rows of this length. Once it is needed, and for good: runs that have given the GIL
  // away use it.
  mutable std::vector<Argmin> argmins_;
  mutable Extent findable_ = 0;                // elements in runs without
  std::vector<std::pair<Slot, Extent>> rows_;  // inputs that steps read as rows of memory, and the size of an item
  std::vector<Output> outputs_;
  std::vector<Target> targets_;
  std::vector<Temporary> temporaries_;
  ReusedBuffer reused_buffer_;
  mutable unsigned not_reused_ = 0;  // so many calls do without
  std::vector<Reduced> reductions_;
  std::vector<AxisReduction> axis_reductions_;
  int nd_ = 0;                       // where there are such
  bool is_fused_ = false;            // to one step
  bool stores_no_nans_ = false;      // all that is stored is stored by steps that leave NaNs open
  bool is_small_ = false;            // or may be
  std::vector<Extent> item_sizes_;   // by slots, as steps in a row of memory; of numbers none
  mutable unsigned not_small_ = 0;   // so many calls are not
  bool is_staged_ = false;           // and operations that take part of their results
  bool is_tree_ = false;             // one of them is a pairwise sum
  bool is_cut_by_buffers_ = false;   // some sum is (ReductionKernel)
  bool depends_on_strides_ = false;  // a loop of sines and the like takes other ways for strided operands
  bool is_serial_ = false;           // a loop may set an exception, or a reduction goes through all blocks in order
  bool has_masks_ = false;           // a loop begins anywhere
  bool reduces_inputs_ = false;      // arrays that are there already: each has to be one row of memory
  bool shows_signs_ = false;         // of NaNs, or their signals, in results that are none
  std::size_t calls_ = 0;            // operations without the casts
  Extent cost_ = 0;                  // of an element, in all operations and reductions
  std::size_t made_ = 0;             // those of them whose results eager execution makes new arrays for
  std::uint16_t buffers_ = 0;
  std::size_t slots_ = 0;
  bool is_iterated_ = false;
  FloatUnits float_units_ = FloatUnits::kNone;
};

class FusionPlanBuilder {
 public:
  explicit FusionPlanBuilder(const Numpy& np) : np_(np), plan_(std::make_unique<FusionPlan>()) {}

  // Objects have numbers. An external one is what stands there in this run; the plan reads it anew in each.
  int external(PyObject* object, unsigned number);
  // The same in all runs; negative if it is not a Python number.
  int constant(PyObject* object);
  // A part of an external array that no object stands for; negative: not by slices and integers. `externals`: for the
  // numbers of these.
  int view(ViewSpec spec, PyObject* object, PyObject* const* externals);

  // The number of the result; negative: this operation is not for the fusion group, which ends before it. In-place
  // operators give the number of their left operand. `temporaries` as in ufunc_site.h.
  int binary(BinaryOperator op, int left, int right, unsigned temporaries);
  int unary(UnaryOperator op, int operand, unsigned temporaries);
  int compare(int py_op, int left, int right);
  // With `out`, and where it is computed: those arrays' numbers, else negative.
  int call(PyObject* ufunc, std::span<const int> operands, int out = -1, int where = -1);
  int where(int condition, int one, int other);
  int astype(int operand, PyObject* descr);
  int clip(int operand, int low, int high);
  // Makes the value the contents of a view or an external array; the result means nothing.
  int assign(int target, int value);
  // All elements as one scalar, which is no operand of the fusion group.
  int reduce(Reduction reduction, int operand);
  // Along these axes, as an array unless these are all and no dimension is kept.
  int reduce(Reduction reduction, int operand, std::span<const int> axes, bool keeps_dims);

  // The arrays that somebody can see; each the result of an operation.
  std::unique_ptr<FusionPlan> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const { return plan_->calls_; }
  // One operation alone pays only where eager execution goes to the loop through Python code, or through buffers.
  [[nodiscard]] bool pays_alone() const {
    return !plan_->reductions_.empty() || !plan_->axis_reductions_.empty() ||
           std::ranges::any_of(plan_->operations_, &FusionPlan::Operation::is_cast);
  }
  // Whether an external array has got new contents.
  [[nodiscard]] bool is_written(int object) const { return objects_[static_cast<std::size_t>(object)].target >= 0; }
  // Whether it is the result of a reduction.
  [[nodiscard]] bool is_scalar(int object) const { return objects_[static_cast<std::size_t>(object)].reduction >= 0; }
  // Whether it is one along some axes, or the result of operations on such.
  [[nodiscard]] bool is_column(int object) const { return objects_[static_cast<std::size_t>(object)].is_column; }
  // Whether anything that is there already has got new contents.
  [[nodiscard]] bool writes() const { return !plan_->targets_.empty(); }
  // Of an array.
  [[nodiscard]] unsigned type_of(int object) const {
    return array::type_of(objects_[static_cast<std::size_t>(object)].code);
  }
  // An object such as a run would make for this result of the fusion group; empty: there is no memory.
  [[nodiscard]] Ref stand_in(int object);
  // What this external array has is nobody's after a run, and the array is new: its memory may become that of a result.
  void reuse_buffer(int external) { reused_.push_back(external); }
  // Why the last operation was not for the fusion group.
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
    int target = -1;  // of plan_->targets_, once it has been written
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
    std::string_view name = {};  // of what is no ufunc
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
    std::array<bool, kMaxFusionSlots> in_memory{};  // results that one step leaves to another have blocks of their own
  };
  void fuse_vector_code(FusedCode* fused);
  VectorSum fused_sum(std::span<const VectorOperation> operations);
  void forget_unread();
  void place_temporaries(const FusedCode& fused);
  void note_item_sizes();
  void place_reused_buffer();
  [[nodiscard]] bool may_be_reused() const;
  [[nodiscard]] bool is_reduced_itself(int slot) const;
  void add_costs();

  const Numpy& np_;
  std::unique_ptr<FusionPlan> plan_;
  std::vector<Object> objects_;
  std::map<std::pair<int, unsigned>, int> scalar_slots_;  // by object and type of the loop
  std::map<std::pair<int, unsigned>, int> cast_slots_;    // by slot and type of the loop
  std::map<int, int> broadcast_slots_;                    // by slot
  std::vector<int> reused_;                               // externals
  Shape space_;
  bool has_space_ = false;
  int slots_ = 0;
  FusionReason reason_ = FusionReason::kNone;
};

}  // namespace tagalong::array
