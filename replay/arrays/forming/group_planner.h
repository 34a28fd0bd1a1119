// Goes through steps as the interpreter would, with descriptions in place of objects, and plans the longest fusion
// group that they allow. Internal to fusion_groups.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "replay/arrays/forming/fusion_groups.h"
#include "replay/arrays/fusion/multi_pass.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/steps/step.h"

namespace tagalong::replay {

// Whether a fusion group may contain the step.
bool may_be_inside(const Step& step);
bool may_be_inside(const LoopOp& op, const Step& step);
// Whether the name is still bound to the object that the plan has found.
bool load_holds(const PlannedGroup::Load& load, PyObject* const* registers);

class FusionPlanner {
  using Reason = array::FusionReason;

 public:
  FusionPlanner(const array::Numpy& np, const FusionSource& source)
      : np_(np),
        source_(source),
        builder_(np, &external_objects_, source.in_passes),
        group_(std::make_unique<PlannedGroup>()) {}

  std::unique_ptr<PlannedGroup> plan(Reason* reason);

 private:
  // A view, slice, tuple or method made in a fusion group does not exist as an object, so none may be left when the
  // group ends.
  enum class Kind : std::uint8_t { kExternal, kConstant, kLoaded, kNumber, kResult, kView, kSlice, kTuple, kMethod };
  struct Content {
    Kind kind = Kind::kExternal;
    PyObject* object = nullptr;       // the object in this run; null: a result
    int number = -1;                  // number in the builder
    array::KnownFunction function{};  // for methods
    int external = -1;                // index in group_->externals
    std::vector<int> parts = {};      // for slices and tuples: indices of contents_
    int computed = -1;                // index in group_->computed
  };
  // What is known after some of the steps.
  struct State {
    std::map<std::int32_t, int> registers;  // index of the register's content in contents_; -1: empty
    std::vector<std::int32_t> dropped;      // registers whose content from before the fusion group was dropped
    std::map<std::int32_t, UnboxedRegister> unboxed;
    std::size_t loads = 0, guards = 0, same = 0, returned_frames = 0, locals = 0, numeric_slots = 0, computed = 0;
  };

  bool refuse(Reason reason);
  int content_of(std::int32_t place);
  bool is_presentable() const;
  bool is_presentable(int content) const;
  bool is_returnable(std::int32_t place) const;
  int external_of(Content* content, std::int32_t place);
  bool is_null(std::int32_t place);
  bool take(const LoopOp& op, const Step& step);
  bool take(const Step& step);
  void drop(std::int32_t place);
  void define(std::int32_t place, const Content& content);
  void build(const Step& step, const std::int32_t* operands);
  bool assign(const std::int32_t* operands);
  bool load_global(const Step& step, std::int32_t place);
  bool load_attribute(const Step& step, std::int32_t place);
  bool guard(const Step& step, std::int32_t place);
  bool add_load(const PlannedGroup::Load& load);
  [[nodiscard]] bool adds_wrong() const;
  bool operate(const Step& step, const std::int32_t* operands);
  bool commit();
  bool is_returned(int content) const;
  unsigned output_of(int content);
  void make_items(int tuple);
  std::int32_t register_with(int content) const;

  // group_planner_numbers.cpp
  int compute(const FusionNumber& number);
  int content_of_number(int number);
  int computed_of(std::int32_t place);
  bool calculate(const Step& step, const std::int32_t* operands);
  int unboxed_number(std::int32_t place);
  bool calculate(const LoopOp& op);
  bool box(std::int32_t place);
  void clear(std::int32_t place);
  bool sync_unboxed(const Step& step);
  int number_of(std::int32_t place);

  // group_planner_parts.cpp
  bool read_number(int index, array::ViewSpec::Number* number);
  static bool read_axis(PyObject* object, array::ViewSpec::Axis* axis);
  bool read_axis(int index, array::ViewSpec::Axis* axis);
  int part_of(std::int32_t container, std::int32_t key, bool is_written);
  bool take_part(const Step& step, const std::int32_t* operands);

  // group_planner_calls.cpp
  bool load_method(const Step& step, const std::int32_t* operands);
  bool is_array_method(const std::int32_t* operands);
  bool call(const Step& step, const std::int32_t* operands);
  bool cast(const Step& step, const std::int32_t* operands);
  PyObject* descr_of(PyObject* object) const;
  bool reduce(const Step& step, array::Reduction reduction, std::span<const std::int32_t> operands);
  bool count_bins(const Step& step, std::span<const std::int32_t> operands);
  bool is_tuple_content(std::int32_t place);
  bool read_axes(std::int32_t place, std::vector<int>* axes, bool* is_along_axes);
  static bool has_out(PyObject* keywords);
  static bool is_named(PyObject* keywords, Py_ssize_t index, const char* name);
  int call_with_out(PyObject* ufunc, PyObject* keywords, std::vector<int> numbers);
  int call_known(const array::KnownFunction& function, const std::vector<int>& numbers);
  PyObject* same_callable(std::int32_t place);
  static bool is_plain_value(PyObject* object);
  PyObject* same_object(std::int32_t place);
  PyObject* same_content(int index);

  static constexpr std::int32_t kFunctionRegister = 1;
  const array::Numpy& np_;
  const FusionSource& source_;
  std::vector<PyObject*> external_objects_;  // objects of group_->externals in this run
  array::MultiPassBuilder builder_;
  std::unique_ptr<PlannedGroup> group_;
  std::vector<Content> contents_;
  std::vector<std::int32_t> origins_;  // by content: its register before the fusion group, or -1
  std::vector<std::pair<const Step*, int>> locals_;
  std::vector<Ref> numbers_;            // values of group_->computed in this run
  std::map<int, int> number_contents_;  // index in group_->computed to index in contents_
  State state_, accepted_;
  Reason reason_ = Reason::kNone;
  std::size_t operations_ = 0;  // operations of the builder in the accepted state
  std::int32_t returned_ = -1;  // register that is returned, where the trace ends behind the group
  std::vector<int> outputs_;    // numbers in the builder
};

}  // namespace tagalong::replay
