// Builds the plan of a fusion group from the operations with the operands of one run. It refuses every operation that
// is not exact in a group; then the group ends before that operation.
//
//   FusionPlanBuilder builder(np);
//   const int x = builder.external(first, 0), y = builder.external(second, 1);
//   const int sum = builder.binary(BinaryOperator::kAdd, x, y, 0);           // negative: not in this fusion group
//   const int root = builder.call(sqrt, {sum}, kAnonymous);
//   auto group = builder.finish({root});
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/fusion_group.h"
#include "replay/arrays/numpy/operators.h"

namespace tagalong::array {

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
  std::unique_ptr<FusionGroup> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const { return plan_->calls; }
  // A single operation is faster as a group only where eager execution goes through Python code, or through buffers.
  [[nodiscard]] bool is_profitable_alone() const {
    return !plan_->reductions.empty() || !plan_->axis_reductions.empty() ||
           std::ranges::any_of(plan_->operations, &PlanOperation::is_cast);
  }
  // Whether an external array gets new contents.
  [[nodiscard]] bool is_written(int object) const { return objects_[static_cast<std::size_t>(object)].target >= 0; }
  // Whether the object is the scalar result of a reduction.
  [[nodiscard]] bool is_scalar(int object) const { return objects_[static_cast<std::size_t>(object)].reduction >= 0; }
  // Whether the object is a reduction along some axes, or the result of operations on such columns.
  [[nodiscard]] bool is_column(int object) const { return objects_[static_cast<std::size_t>(object)].is_column; }
  // Whether any existing array gets new contents.
  [[nodiscard]] bool writes() const { return !plan_->targets.empty(); }
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
    int target = -1;  // index in plan_->targets once it has been written
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
