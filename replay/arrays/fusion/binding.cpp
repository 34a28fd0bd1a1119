// Checks whether operands are of the planned kinds, and where their memory is. This file has the usual case: arrays of
// one shape that are one row of memory each.
#include <algorithm>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/numpy/elision.h"

namespace tagalong::array {

namespace {

bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  return one->nd == other->nd && std::equal(one->dimensions, one->dimensions + one->nd, other->dimensions);
}

}  // namespace

bool FusionPlan::bind_scalar_values(const Numpy& np, PyObject* const* externals, SlotPointers* data,
                                    Scalars* scalars) const {
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    const Scalar& scalar = scalars_[i];
    PyObject* object = externals[scalar.external];
    char* place = (*scalars)[i].data();
    // An array without dimensions may be a part of a target that is written before it is read.
    if (!targets_.empty() && Py_TYPE(object) == np.array_type) {
      return false;
    }
    if (classify(np, object) != scalar.code || !read_scalar(np, object, scalar.code, scalar.type, place)) {
      return false;
    }
    (*data)[scalar.slot] = place;
  }
  for (const Constant& constant : constants_) {
    (*data)[constant.slot] = const_cast<char*>(constant.bytes.data());
  }
  return true;
}

bool FusionPlan::bind_scalars(const Numpy& np, PyObject* const* externals, Frame* frame) const {
  for (const Scalar& scalar : scalars_) {
    frame->strides[scalar.slot] = 0;
  }
  for (const Constant& constant : constants_) {
    frame->strides[constant.slot] = 0;
  }
  return bind_scalar_values(np, externals, &frame->data, &frame->scalars);
}

// All arrays have one shape and are one row of memory each, in the same order. kLayout: they may still be broadcast.
FusionReason FusionPlan::bind(const Numpy& np, PyObject* const* externals, Frame* frame) const {
  if (!bind_scalars(np, externals, frame)) {
    return FusionReason::kKinds;
  }
  if (!views_.empty() || !targets_.empty() || is_staged_) {
    return FusionReason::kLayout;
  }
  for (const Input& input : inputs_) {
    PyObject* object = externals[input.external];
    const ArrayFields* array = as_array(object);
    if (Py_TYPE(object) != np.array_type || array->descr != np.descr[input.type]) {
      return FusionReason::kKinds;
    }
    if ((array->flags & kAligned) == 0 || array->nd == 0) {
      return FusionReason::kLayout;
    }
    frame->data[input.slot] = array->data;
    if (frame->shape == nullptr) {
      frame->shape = array;
    } else if (!same_shape(frame->shape, array)) {
      return FusionReason::kLayout;
    }
    if (array->nd == 1) {
      frame->strides[input.slot] = array->strides[0];
      if (reduces_inputs_ && array->strides[0] != np.item_size[input.type]) {
        return FusionReason::kLayout;
      }
      continue;
    }
    const int order = array->flags & kOrders;
    if (order == 0 || (frame->order != 0 && frame->order != order)) {
      return FusionReason::kLayout;
    }
    frame->order = order;
    frame->strides[input.slot] = np.item_size[input.type];
  }
  if (frame->shape == nullptr) {
    return FusionReason::kKinds;  // a fusion group contains an array
  }
  if (frame->shape->nd > 1 && frame->order == kFContiguous && is_iterated_) {
    return FusionReason::kLayout;  // NumPy's iterator gives other strides to axes of length one where operands are cast
  }
  for (int i = 0; i < frame->shape->nd; ++i) {
    frame->count *= frame->shape->dimensions[i];
  }
  const bool may_elide = frame->count * static_cast<Extent>(kItemSize) >= kMinElidedBytes && np.elides;
  return may_elide ? bind_elision(externals, frame) : FusionReason::kNone;
}

// Where eager NumPy computes into its right operand it swaps the operands, which shows in the payloads of NaNs.
FusionReason FusionPlan::bind_elision(PyObject* const* externals, Frame* frame) const {
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const Operation& operation = operations_[number];
    if (frame->count * operation.out_size < kMinElidedBytes) {
      continue;
    }
    for (unsigned i = 0; i < 2; ++i) {
      if ((operation.elidable >> i & 1U) == 0) {
        continue;
      }
      if (operation.externals[i] >= 0) {
        PyObject* object = externals[operation.externals[i]];
        if (!may_be_elided(object)) {
          continue;
        }
        if (!is_unique(object) || frame->strides[operation.slots[i]] != operation.out_size) {
          return FusionReason::kKinds;
        }
        if (!has_usual_strides(as_array(object), operation.out_size, frame->order == kFContiguous)) {
          return FusionReason::kLayout;
        }
      }
      frame->swapped[number] = i == 1;
      break;
    }
  }
  return FusionReason::kNone;
}

}  // namespace tagalong::array
