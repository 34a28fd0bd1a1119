// Multi-pass kernels: consecutive fusion groups over all elements, of which later ones use reductions of earlier ones,
// as softmax uses the largest element and the sum. The passes are done together or not at all, like one fusion group.
// So the program cannot see arrays that only go from one pass to the next, and results may take their memory.
//
//   MultiPassBuilder builder(np, &externals);
//   const int x = builder.external(first, 0);
//   const int sum = builder.reduce(Reduction::kSum, x);
//   const int root = builder.binary(BinaryOperator::kTrueDivide, x, sum, 0);   // begins the second pass
//   auto plan = builder.finish({root});
//   if (plan->run(np, externals.data(), results) == FusionReason::kNone) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/plan_builder.h"

namespace tagalong::array {

inline constexpr std::size_t kMostPasses = 4;
inline constexpr std::size_t kMostCalls = 8;       // between passes
inline constexpr std::size_t kMostExternals = 32;  // of one fusion group
inline constexpr std::size_t kMostResults = kMostPasses * kMaxFusionOutputs;

class MultiPassPlan {
 public:
  // These functions are as in FusionGroup.
  FusionReason run(const Numpy& np, PyObject* const* externals, Ref* outputs) const;
  [[nodiscard]] std::size_t operation_count() const;
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  // The vector kernels of all passes.
  [[nodiscard]] KernelVariants::Kernels kernels() const;
  // Whether later passes have often refused after earlier ones had computed everything: separate plans are faster then.
  [[nodiscard]] bool is_better_apart() const;

 private:
  friend class MultiPassBuilder;
  friend class PlanPrinter;
  // Pass and index of its output, or kOfCall and index of the call.
  using Result = std::pair<std::uint8_t, std::uint8_t>;
  static constexpr std::uint8_t kOfCall = 0x80;  // offset of `second` for calls
  // A call of bincount behind a pass.
  struct Call {
    std::uint8_t pass = 0;
    int labels = -1;   // number of an external, or of a carried result behind all externals
    int weights = -1;  // as labels; -1: no weights
    Extent least = 0;
  };
  FusionReason run_all(const Numpy& np, PyObject* const* externals, Ref* outputs, bool is_again) const;

  std::vector<std::unique_ptr<FusionGroup>> groups_;  // by pass
  std::vector<Result> carried_;                       // results that later passes get beside the externals
  std::vector<Result> outputs_;
  std::vector<Call> calls_;
  std::size_t externals_ = 0;
  mutable unsigned refused_ = 0;  // how often a later pass than the first one has refused
};

// Has the operations of FusionPlanBuilder and begins a new pass where one is needed.
class MultiPassBuilder {
 public:
  // `externals`: the caller's objects, of which views are made when needed. Without `in_passes` there is one pass only.
  MultiPassBuilder(const Numpy& np, const std::vector<PyObject*>* externals, bool in_passes);

  int external(PyObject* object, unsigned number);
  int constant(PyObject* object);
  int view(ViewSpec spec);
  // A part of a result, for later passes; the external in `spec` is ignored.
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

  // np.bincount of arrays that are complete when the pass is done; the next operation begins a new pass.
  int bins(int labels, int weights, Extent least);

  std::unique_ptr<MultiPassPlan> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const;
  [[nodiscard]] bool is_profitable_alone() const {
    return builders_.size() == 1 && calls_.empty() && builders_.front().is_profitable_alone();
  }
  [[nodiscard]] std::size_t pass_count() const { return builders_.size(); }
  [[nodiscard]] bool is_written(int object) const;
  // Whether the object is a part of an array, perhaps with new contents: a run makes no object for it.
  [[nodiscard]] bool is_view(int object) const { return at(object).view.has_value(); }
  [[nodiscard]] bool is_scalar(int object) const;
  [[nodiscard]] bool is_column(int object) const;
  // The type number of an array that the fusion groups compute.
  [[nodiscard]] unsigned type_of(int object) const { return builders_[at(object).made_in].type_of(at(object).made_as); }
  [[nodiscard]] FusionReason reason() const { return reason_; }
  int refused(FusionReason reason) {
    reason_ = reason;
    return -1;
  }

 private:
  static constexpr std::size_t kNoPass = kMostPasses;  // not yet an operand in any pass
  struct Object {
    PyObject* object = nullptr;  // borrowed; null: a view, or a result
    int external = -1;
    std::optional<ViewSpec> view = {};
    int part_of = -1;  // the result of which the view is a part; negative: the view is a part of an external array
    bool is_result = false;
    std::size_t made_in = 0;  // of a result: its pass and its number there
    int made_as = -1;
    int call = -1;         // index in calls_ if the object is that call's result, or -1
    std::size_t pass = 0;  // the last pass that uses it, and its number there
    int number = -1;
    int carried = -1;  // index in carried_, or -1
  };
  struct Carried {
    int object;
    Ref placeholder;
    std::size_t last_used;  // the last pass that uses it
    bool is_kept = false;   // it is also used otherwise than as a whole operand of passes
  };

  int add(Object object);
  [[nodiscard]] const Object& at(int object) const { return objects_[static_cast<std::size_t>(object)]; }
  FusionPlanBuilder& current() { return builders_.back(); }
  int number_in_pass(int object);
  int carry(int object);
  int known_to_calls(int object);
  [[nodiscard]] Ref placeholder(const Object& object);
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
  std::vector<FusionPlanBuilder> builders_;  // by pass
  std::vector<Object> objects_;
  std::vector<Carried> carried_;
  std::vector<MultiPassPlan::Call> calls_;
  FusionReason reason_ = FusionReason::kNone;
};

}  // namespace tagalong::array
