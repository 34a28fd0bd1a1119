// Buffer reuse: results in the memory of arrays that are not used any more. In a multi-pass kernel these are arrays
// that one pass leaves to the next. If a later pass refuses, nothing has happened, so their contents do not matter
// then.
#include <algorithm>

#include "replay/arrays/fusion/plan_builder.h"
#include "replay/arrays/numpy/elision.h"

namespace tagalong::array {

// Whether every element is read for the last time before the result is written there. That needs a single fused kernel;
// where it bails out, the run is repeated with new memory.
bool FusionPlanBuilder::may_be_reused() const {
  if (plan_->steps.size() != 1 || plan_->steps.front().code == nullptr) {
    return false;
  }
  const PlanStep& step = plan_->steps.front();
  return step.is_quotient || !step.code->may_run_twice();
}

// Whether a reduction reads the slot block by block, after the results have been written.
bool FusionPlanBuilder::is_reduced_itself(int slot) const {
  return std::ranges::find(plan_->reductions, slot, &PlanReduction::slot) != plan_->reductions.end() ||
         std::ranges::find(plan_->axis_reductions, slot, &PlanAxisReduction::slot) != plan_->axis_reductions.end();
}

// Chooses the first candidate that is an input, for a result of its dtype.
void FusionPlanBuilder::choose_reused_buffer() {
  if (!may_be_reused()) {
    return;
  }
  for (const int external : reused_) {
    const auto input = std::ranges::find_if(
        plan_->inputs, [&](const PlanInput& known) { return known.external == external && known.view < 0; });
    if (input == plan_->inputs.end() || is_reduced_itself(input->slot)) {
      continue;
    }
    const auto output = std::ranges::find_if(plan_->outputs, [&](const PlanOutput& known) {
      return known.descr == np_.descr[input->type] && !known.is_column;
    });
    if (output != plan_->outputs.end()) {
      plan_->reused_buffer = {.output = static_cast<std::int16_t>(output - plan_->outputs.begin()),
                              .external = static_cast<std::uint16_t>(external)};
      return;
    }
  }
}

// Of an array only the shape and dtype matter to the planner; its memory is not filled.
Ref FusionPlanBuilder::placeholder(int object) {
  const Object& known = at(object);
  Ref made;
  if (known.reduction >= 0) {
    made = Ref::steal(
        make_scalar(np_, plan_->reductions[static_cast<std::size_t>(known.reduction)].kernel->type, Accumulator{}));
  } else {
    const Shape shape = shape_of(known);
    PyObject* descr = np_.descr[known.code];
    Py_INCREF(descr);
    made = Ref::steal(
        np_.new_from_descr(np_.array_type, descr, shape.nd, shape.dims.data(), nullptr, nullptr, 0, nullptr));
  }
  PyErr_Clear();
  return made;
}

}  // namespace tagalong::array
