// The results of a run: new arrays, which are made before the computation, and scalars.
#include "replay/arrays/fusion/plan_run.h"

namespace tagalong::array {

// False: an exception is set.
bool FusionPlan::make_results(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame,
                              Space* space) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.reduction >= 0 || output.axis_reduction >= 0) {
      continue;
    }
    if (output.descr == nullptr) {
      outputs[i] = Ref::create(externals[output.external]);
      continue;
    }
    const bool may_be_reused = static_cast<int>(i) == reused_buffer_.output;
    outputs[i] = may_be_reused ? Ref::create(reused_buffer(*frame, space, externals)) : Ref();
    const bool is_reused = static_cast<bool>(outputs[i]);
    if (is_reused) {
      frame->is_reused = true;
      ++fusion_counts.reused;
    } else if (outputs[i] = make_result(np, i, *frame, space); !outputs[i]) {
      return false;
    }
    char* data = as_array(outputs[i].get())->data;
    if (is_reused || space == nullptr || output.is_column || space->walk->is_row(space->walked_outputs[i])) {
      frame->data[output.slot] = data;
      frame->strides[output.slot] = output.item_size;
    } else {
      // As for gathered arrays: before the first block the array must not advance.
      frame->data[output.slot] = data;
      frame->strides[output.slot] = 0;
      space->scattered.push_back({.data = data,
                                  .strides = space->walked_outputs[i],
                                  .slot = output.slot,
                                  .item_size = output.item_size,
                                  .is_direct = false});  // some loops are wrong for strided results (isfinite of 2.4)
    }
  }
  return true;
}

Ref FusionPlan::make_result(const Numpy& np, std::size_t number, const Frame& frame, const Space* space) const {
  const Output& output = outputs_[number];
  Py_INCREF(output.descr);
  if (space == nullptr) {
    return Ref::steal(np.new_from_descr(np.array_type, output.descr, frame.shape->nd, frame.shape->dimensions, nullptr,
                                        nullptr, frame.order == kFContiguous ? 1 : 0, nullptr));
  }
  const Shape shape = output.is_column ? column_shape(space->shape, output.drops_axes) : space->shape;
  return Ref::steal(np.new_from_descr(np.array_type, output.descr, shape.nd, shape.dims.data(),
                                      space->output_strides[number].data(), nullptr, 0, nullptr));
}

// Stores the results of reductions. False: an exception is set.
bool FusionPlan::store_reductions(const Numpy& np, Ref* outputs, const Frame& frame) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].axis_reduction >= 0) {
      outputs[i] = frame.axis_reductions->results.at(static_cast<std::size_t>(outputs_[i].axis_reduction));
    }
    if (const std::int16_t number = outputs_[i].reduction; number >= 0) {
      const auto place = static_cast<std::size_t>(number);
      outputs[i] = Ref::steal(make_scalar(np, reductions_[place].kernel->type, frame.reduced[place]));
      if (!outputs[i]) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tagalong::array
