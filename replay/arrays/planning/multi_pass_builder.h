// Builds a multi-pass kernel: gives the operations to the builder of the current pass, and begins a new pass where an
// operation needs what the current pass makes only at its end.
//
//   MultiPassBuilder builder(np, &externals, true);
//   const int x = builder.external(first, 0);
//   const int sum = builder.add({.kind = Kind::kReduce, .code = static_cast<int>(Reduction::kSum), .operands = {x}});
//   const int part = builder.add({.kind = Kind::kBinary, .code = NB_TRUE_DIVIDE, .operands = {x, sum}});  // second
//   pass auto plan = builder.finish(std::array{part});
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/multi_pass.h"
#include "replay/arrays/planning/plan_builder.h"

namespace tagalong::array {

class MultiPassBuilder {
 public:
  // `externals`: the caller's objects, of which views are made when needed. Without `in_passes` there is one pass only.
  MultiPassBuilder(const Numpy& np, const std::vector<PyObject*>* externals, bool in_passes);

  int external(PyObject* object, unsigned number);
  int constant(PyObject* object);
  // The same part again has the same number, so later operations read what earlier ones have written there.
  int view(ViewSpec spec);
  // A part of a result, for later passes; the external in `spec` is ignored.
  int part(int object, ViewSpec spec);

  // As FusionPlanBuilder::add().
  int add(const ArrayVerb& verb);

  // np.roll of an array, of a part of one, or of a result. `is_flat`: without axes.
  int roll(int object, const std::vector<ViewSpec::Roll>& rolls, bool is_flat);
  // The part of an array, or of a result.
  int part_of(int object, ViewSpec spec);

  // The variance of an array, or the standard deviation, along the axes of the verb, which has one operand: the mean of
  // the squares of the differences from the mean.
  int spread(const ArrayVerb& verb);

  // np.bincount of arrays that are complete when the pass is done; the next operation begins a new pass.
  int bins(int labels, int weights, Extent least);

  std::unique_ptr<MultiPassPlan> finish(std::span<const int> outputs);

  [[nodiscard]] std::size_t operation_count() const;
  [[nodiscard]] bool is_profitable_alone() const {
    return builders_.size() == 1 && calls_.empty() && builders_.front().is_profitable_alone();
  }
  [[nodiscard]] std::size_t pass_count() const { return builders_.size(); }
  [[nodiscard]] bool is_written(int object) const;
  // Whether any existing array gets new contents.
  [[nodiscard]] bool writes() const { return std::ranges::any_of(builders_, &FusionPlanBuilder::writes); }
  // Whether the object is a part of an array, perhaps with new contents: a run makes no object for it.
  [[nodiscard]] bool is_view(int object) const { return at(object).view.has_value(); }
  [[nodiscard]] bool is_part_of_result(int object) const { return at(object).part_of >= 0; }
  [[nodiscard]] bool is_scalar(int object) const;
  [[nodiscard]] bool is_column(int object) const;
  // The type number of an array that the fusion groups compute.
  [[nodiscard]] unsigned type_of(int object) const { return builders_[at(object).made_in].type_of(at(object).made_as); }
  [[nodiscard]] FusionReason reason() const { return reason_; }

 private:
  static constexpr std::size_t kNoPass = kMostPasses;  // not yet an operand in any pass
  struct Object {
    PyObject* object = nullptr;  // borrowed; null: a view, or a result
    int external = -1;
    std::optional<ViewSpec> view = {};
    int part_of = -1;  // the result of which the view is a part; negative: the view is a part of an external array
    bool is_result = false;
    bool is_component = false;  // a view of a result, which does not exist behind its pass
    std::size_t made_in = 0;    // of a result: its pass and its number there
    int made_as = -1;
    int rolled = -1;       // of a result: the rolled part that it is a copy of, or -1
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

  int add_object(Object object);
  [[nodiscard]] const Object& at(int object) const { return objects_[static_cast<std::size_t>(object)]; }
  FusionPlanBuilder& current() { return builders_.back(); }
  int number_in_pass(int object);
  int carry(int object);
  int known_to_calls(int object);
  [[nodiscard]] Ref placeholder(const Object& object);
  [[nodiscard]] bool is_closed() const { return !calls_.empty() && calls_.back().pass + 1U == builders_.size(); }
  [[nodiscard]] bool needs_new_pass(const ArrayVerb& verb) const;
  [[nodiscard]] bool may_begin_pass(const ArrayVerb& verb) const;
  int attempt(const ArrayVerb& verb);
  int refuse(FusionReason reason) {
    reason_ = reason;
    return -1;
  }
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
