#include "replay/arrays/fusion/results.h"

#include "replay/arrays/numpy/elision.h"

namespace tagalong::array {

// False: an exception is set.
bool RunResults::make(Backoff* reuse) {
  const auto& [np, externals, outputs] = arguments_;
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    const PlanOutput& output = plan_.outputs[i];
    if (output.reduction >= 0 || output.axis_reduction >= 0) {
      continue;
    }
    if (output.descr == nullptr) {
      outputs[i] = Ref::create(externals[output.external]);
      continue;
    }
    const bool may_be_reused = static_cast<int>(i) == plan_.reused_buffer.output;
    outputs[i] = may_be_reused ? Ref::create(reused_buffer(reuse)) : Ref();
    const bool is_reused = static_cast<bool>(outputs[i]);
    if (is_reused) {
      state_.is_reused = true;
      ++fusion_counts.reused;
    } else if (outputs[i] = make_array(i); !outputs[i]) {
      return false;
    }
    char* data = as_array(outputs[i].get())->data;
    if (is_reused || space_ == nullptr || output.is_column || space_->walk->is_row(space_->walked_outputs[i])) {
      state_.data[output.slot] = data;
      state_.strides[output.slot] = output.item_size;
    } else {
      // As for gathered arrays: before the first block the array must not advance.
      state_.data[output.slot] = data;
      state_.strides[output.slot] = 0;
      space_->scattered.push_back({.data = data,
                                   .strides = space_->walked_outputs[i],
                                   .slot = output.slot,
                                   .item_size = output.item_size,
                                   .is_direct = false});  // some loops are wrong for strided results (isfinite of 2.4)
    }
  }
  return true;
}

// Null: the result gets new memory.
PyObject* RunResults::reused_buffer(Backoff* reuse) const {
  if (reuse->skips_run()) {
    return nullptr;
  }
  PyObject* object = arguments_.externals[plan_.reused_buffer.external];
  const Extent item_size = plan_.outputs[static_cast<std::size_t>(plan_.reused_buffer.output)].item_size;
  const bool fits = space_ == nullptr && state_.count > kBlock && is_unique(object) &&
                    looks_fresh(as_array(object), item_size, state_.order);
  return fits ? object : nullptr;
}

Ref RunResults::make_array(std::size_t number) const {
  const Numpy& np = arguments_.np;
  const PlanOutput& output = plan_.outputs[number];
  Py_INCREF(output.descr);
  if (space_ == nullptr) {
    return Ref::steal(np.new_from_descr(np.array_type, output.descr, state_.shape->nd, state_.shape->dimensions,
                                        nullptr, nullptr, state_.order == kFContiguous ? 1 : 0, nullptr));
  }
  if (output.is_shared) {
    const Extent count = state_.count;
    const Ref made =
        Ref::steal(np.new_from_descr(np.array_type, output.descr, 1, &count, nullptr, nullptr, 0, nullptr));
    return made ? Ref::steal(PyObject_CallMethod(made.get(), "reshape", "n", count)) : Ref();
  }
  const Shape shape = output.is_column ? plan_.column_shape(space_->shape, output.drops_axes) : space_->shape;
  return Ref::steal(np.new_from_descr(np.array_type, output.descr, shape.nd, shape.dims.data(),
                                      space_->output_strides[number].data(), nullptr, 0, nullptr));
}

// Stores the results of reductions. False: an exception is set.
bool RunResults::store_reductions() {
  const auto& [np, externals, outputs] = arguments_;
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (plan_.outputs[i].axis_reduction >= 0) {
      outputs[i] = state_.axis_reductions->results.at(static_cast<std::size_t>(plan_.outputs[i].axis_reduction));
    }
    if (const std::int16_t number = plan_.outputs[i].reduction; number >= 0) {
      const auto place = static_cast<std::size_t>(number);
      outputs[i] = Ref::steal(make_scalar(np, plan_.reductions[place].kernel->type, state_.reduced[place]));
      if (!outputs[i]) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tagalong::array
