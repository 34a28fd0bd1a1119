// Builds the plan of a fusion group from the operations with the operands of one run. It refuses every operation that
// is not exact in a group; the group ends before that operation.
//
//   FusionPlanBuilder builder(np);
//   const int x = builder.external(first, 0), y = builder.external(second, 1);
//   const int sum = builder.add({.kind = ArrayVerb::Kind::kBinary, .code = NB_ADD, .operands = {x, y}});
//   const int root = builder.add({.kind = ArrayVerb::Kind::kCall, .object = sqrt, .operands = {sum}});
//   auto group = builder.finish(std::array{root});
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "replay/arrays/fusion/fusion_group.h"
#include "replay/arrays/planning/array_verb.h"
#include "replay/arrays/planning/plan_operands.h"

namespace tagalong::array {

class FusionPlanBuilder {
 public:
  explicit FusionPlanBuilder(const Numpy& np)
      : np_(np), plan_(std::make_unique<FusionPlan>()), operands_(np, plan_.get()) {}

  // Objects have numbers. An external object is this run's; the plan reads the object with that number in each run.
  int external(PyObject* object, unsigned number) { return operands_.external(object, number); }
  // The same number in all runs. Negative: the object is not a Python number.
  int constant(PyObject* object) { return operands_.constant(object); }
  // A part of an external array without an object of its own. Negative: the part cannot be described by slices and
  // integers. `externals` holds the numbers in the slices.
  int view(ViewSpec spec, PyObject* object, PyObject* const* externals) {
    return operands_.view(std::move(spec), object, externals);
  }

  // Returns the number of the result. Negative: the operation is not part of the fusion group, which ends before it.
  // Operations that write an existing array return that array's number. A reduction to a scalar cannot be an operand in
  // the same fusion group.
  int add(const ArrayVerb& verb);

  // `outputs`: numbers of the arrays that are visible afterwards; each is the result of an operation.
  std::unique_ptr<FusionGroup> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const { return plan_->calls; }
  // Whether a single operation may be faster as a group: where eager execution goes through Python code, through
  // buffers, or from row to row.
  [[nodiscard]] bool is_profitable_alone() const;
  // Whether an external array gets new contents.
  [[nodiscard]] bool is_written(int object) const { return operands_.at(object).target >= 0; }
  // Whether the object is the scalar result of a reduction.
  [[nodiscard]] bool is_scalar(int object) const { return operands_.at(object).reduction >= 0; }
  // Whether the object is a reduction along some axes, or the result of operations on such columns.
  [[nodiscard]] bool is_column(int object) const { return operands_.at(object).is_column; }
  // Whether any existing array gets new contents.
  [[nodiscard]] bool writes() const { return !plan_->targets.empty(); }
  // The type number of an array.
  [[nodiscard]] unsigned type_of(int object) const { return array::type_of(operands_.at(object).code); }
  [[nodiscard]] bool is_array_object(int object) const { return operands_.is_array_object(object); }
  [[nodiscard]] int dimensions_of(int object) const { return operands_.shape_of(operands_.at(object)).nd; }
  // An object such as a run would make for this result; empty: there is no memory.
  [[nodiscard]] Ref placeholder(int object) const;
  // Allows a result to take the memory of this external array, which is new and not used after a run.
  void reuse_buffer(int external) { reused_.push_back(external); }
  // Why the last operation is not part of the fusion group.
  [[nodiscard]] FusionReason reason() const { return operands_.reason(); }

 private:
  using Object = PlanOperands::Object;
  // An operation whose ufunc is known.
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
    [[nodiscard]] int target() const { return inplace ? operands[0] : out; }
  };

  // One for each kind of verb: the ufunc, or the loop.
  int binary(const ArrayVerb& verb);
  int unary(const ArrayVerb& verb);
  int compare(const ArrayVerb& verb);
  int call(const ArrayVerb& verb);
  int where(const ArrayVerb& verb);
  int astype(const ArrayVerb& verb);
  int clip(const ArrayVerb& verb);
  int conjugate(const ArrayVerb& verb);
  int assign(const ArrayVerb& verb);
  int copy(int operand, unsigned from, unsigned to, std::string_view name);
  int reduce(const ArrayVerb& verb);
  int roll(const ArrayVerb& verb);
  int component(const ArrayVerb& verb);
  int round(const ArrayVerb& verb);

  // The loop of a ufunc, and whether it is exact in a group.
  int apply(const Request& request);
  [[nodiscard]] bool takes_other_integers(const Kernel& kernel, const Request& request) const;
  // Adds the operation to the plan.
  int emit(const Kernel& kernel, const Request& request);
  [[nodiscard]] bool fits(const Request& request, bool* is_column);
  bool take_operands(const Kernel& kernel, const Request& request, PlanOperation* operation);
  bool take_mask(const Request& request, PlanOperation* operation);
  void mark_elidable(const Kernel& kernel, const Request& request, PlanOperation* operation) const;
  void note_traits(const Kernel& kernel, const Request& request);
  [[nodiscard]] bool takes_one_result(const Request& request) const;
  [[nodiscard]] bool takes_gaps(const Request& request) const;
  [[nodiscard]] bool takes_quiet_nans(const Kernel& kernel, const OperandCodes& codes) const;
  [[nodiscard]] bool takes_components(const Request& request) const;

  // plan_reductions.cpp
  int reduce_all(const ArrayVerb& verb);
  int reduce_along(const ArrayVerb& verb);
  bool read_axes(std::span<const int> axes, ReducedAxes* reduced) const;
  bool may_be_reduced(int operand);
  int reduced_slot(const ReductionKernel& kernel, int operand);
  bool cut_by_rows();

  int refuse(FusionReason reason) { return operands_.refuse(reason); }
  [[nodiscard]] Object& at(int number) { return operands_.at(number); }
  [[nodiscard]] const Object& at(int number) const { return operands_.at(number); }
  void note_item_bytes();
  PlanOutput output_of(const Object& object) const;

  const Numpy& np_;
  std::unique_ptr<FusionPlan> plan_;
  PlanOperands operands_;
  std::vector<Ref> numbers_;  // constants of the builder's own
  std::vector<int> reused_;   // externals whose memory may be reused
};

}  // namespace tagalong::array
