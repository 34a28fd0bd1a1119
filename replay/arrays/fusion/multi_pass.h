// Fusion groups in a row, each over all elements, of which the later ones take what reductions of the earlier ones
// give: as softmax does with the largest element and with the sum. Together they are done or have not happened, as one
// fusion group. So what only goes from one sweep to the next is seen by nobody, and its memory becomes that of a
// result.
//
//   MultiPassBuilder builder(np, &externals);
//   const int x = builder.external(first, 0);
//   const int sum = builder.reduce(Reduction::kSum, x);
//   const int root = builder.binary(BinaryOperator::kTrueDivide, x, sum, 0);   // begins the second sweep
//   auto sweeps = builder.finish({root});
//   if (sweeps->run(np, externals.data(), results) == FusionReason::kNone) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/fusion_plan.h"

namespace tagalong::array {

inline constexpr std::size_t kMostPasses = 4;
inline constexpr std::size_t kMostCalls = 8;       // between them
inline constexpr std::size_t kMostExternals = 32;  // that a fusion group is told of
inline constexpr std::size_t kMostResults = kMostPasses * kMaxFusionOutputs;

class MultiPassPlan {
 public:
  // As FusionPlan has them.
  FusionReason run(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  [[nodiscard]] std::size_t operation_count() const;
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  // Of all passes.
  [[nodiscard]] std::vector<std::shared_ptr<const VectorCode>> kernels() const;
  // Whether it has happened often that a sweep refused after others had computed all: they would have done alone.
  [[nodiscard]] bool is_better_apart() const;

 private:
  friend class MultiPassBuilder;
  friend class PlanPrinter;
  using Result = std::pair<std::uint8_t, std::uint8_t>;  // sweep, and which of its outputs; or which of calls_
  static constexpr std::uint8_t kOfCall = 0x80;          // of the second
  // Of bincount, once a sweep is done.
  struct Call {
    std::uint8_t pass = 0;
    int labels = -1;   // an external, or what is carried, behind all these
    int weights = -1;  // none
    Extent least = 0;
  };
  FusionReason run_all(const Numpy& np, PyObject* const* externals, Ref* outputs, bool is_again) const;

  std::vector<std::unique_ptr<FusionPlan>> plans_;
  std::vector<Result> carried_;  // what sweeps get beside the externals
  std::vector<Result> outputs_;
  std::vector<Call> calls_;
  std::size_t externals_ = 0;
  mutable unsigned refused_ = 0;  // so often later than by the first one
};

// Takes what a FusionPlanBuilder takes, which is told there.
class MultiPassBuilder {
 public:
  // `externals`: the caller's, of which views are made when they are wanted. Not `in_passes`: there is only one.
  MultiPassBuilder(const Numpy& np, const std::vector<PyObject*>* externals, bool in_passes);

  int external(PyObject* object, unsigned number);
  int constant(PyObject* object);
  int view(ViewSpec spec);
  // A part of a result, which later sweeps may take; `spec`'s external means nothing.
  int part(int object, ViewSpec spec);

  int binary(BinaryOperator op, int left, int right, unsigned temporaries);
  int unary(UnaryOperator op, int operand, unsigned temporaries);
  int compare(int py_op, int left, int right);
  int call(PyObject* ufunc, std::span<const int> operands, int out = -1, int where = -1);
  int where(int condition, int one, int other);
  int astype(int operand, PyObject* descr);
  int clip(int operand, int low, int high);
  int assign(int target, int value);
  int reduce(Reduction reduction, int operand);
  int reduce(Reduction reduction, int operand, std::span<const int> axes, bool keeps_dims);

  // np.bincount of arrays that are there when the sweep is done; what follows begins the next one.
  int bins(int labels, int weights, Extent least);

  std::unique_ptr<MultiPassPlan> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const;
  [[nodiscard]] bool pays_alone() const {
    return builders_.size() == 1 && calls_.empty() && builders_.front().pays_alone();
  }
  [[nodiscard]] std::size_t pass_count() const { return builders_.size(); }
  [[nodiscard]] bool is_written(int object) const;
  // Whether it is a part of an array, perhaps with new contents: no run makes an object of it.
  [[nodiscard]] bool is_view(int object) const { return at(object).view.has_value(); }
  [[nodiscard]] bool is_scalar(int object) const;
  [[nodiscard]] bool is_column(int object) const;
  // Of an array that the fusion groups compute.
  [[nodiscard]] unsigned type_of(int object) const { return builders_[at(object).made_in].type_of(at(object).made_as); }
  [[nodiscard]] FusionReason reason() const { return reason_; }
  int refused(FusionReason reason) {
    reason_ = reason;
    return -1;
  }

 private:
  static constexpr std::size_t kNoPass = kMostPasses;  // before an operation takes it
  struct Object {
    PyObject* object = nullptr;  // borrowed; null: a view, or a result
    int external = -1;
    std::optional<ViewSpec> view = {};
    int part_of = -1;  // the result whose part the view is; negative: an external array's
    bool is_result = false;
    std::size_t made_in = 0;  // of a result
    int made_as = -1;
    int call = -1;         // it is that of calls_
    std::size_t pass = 0;  // the last one that knows it, and as which number
    int number = -1;
    int carried = -1;  // of carried_
  };
  struct Carried {
    int object;
    Ref stand_in;
    std::size_t last_used;  // sweep
    bool is_kept = false;   // it is not a whole operand of sweeps only
  };

  int add(Object object);
  [[nodiscard]] const Object& at(int object) const { return objects_[static_cast<std::size_t>(object)]; }
  FusionPlanBuilder& current() { return builders_.back(); }
  int number_in_pass(int object);
  int carry(int object);
  int known_to_calls(int object);
  [[nodiscard]] Ref stand_in(const Object& object);
  [[nodiscard]] bool is_closed() const { return !calls_.empty() && calls_.back().pass + 1U == builders_.size(); }
  [[nodiscard]] bool takes_part(std::span<const int> operands) const;
  [[nodiscard]] bool takes_reduced(std::span<const int> operands) const;
  template <class Make>
  int attempt(std::span<const int> operands, int target, const Make& make);
  template <class Make>
  int apply(std::span<const int> operands, int target, const Make& make);
  void reuse_buffer(std::size_t pass, std::span<const int> outputs);

  const Numpy& np_;
  const std::vector<PyObject*>* externals_;
  bool in_passes_;
  std::vector<FusionPlanBuilder> builders_;  // of the sweeps
  std::vector<Object> objects_;
  std::vector<Carried> carried_;
  std::vector<MultiPassPlan::Call> calls_;
  FusionReason reason_ = FusionReason::kNone;
};

}  // namespace tagalong::array
