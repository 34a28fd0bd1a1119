// Whether operands are of the kinds that a region was planned for, and where they are in memory: the usual case, arrays
// of one shape that are each one row.
#include <algorithm>

#include "replay/arrays/fusion/region_run.h"
#include "replay/arrays/numpy/elision.h"

namespace tagalong::array {

namespace {

bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  return one->nd == other->nd && std::equal(one->dimensions, one->dimensions + one->nd, other->dimensions);
}

}  // namespace

bool RegionPlan::place_scalars(const Numpy& np, PyObject* const* externals, Places* data, Scalars* scalars) const {
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    const Scalar& scalar = scalars_[i];
    PyObject* object = externals[scalar.external];
    char* place = (*scalars)[i].data();
    // An array without dimensions may be a part of what is written before it is read.
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

bool RegionPlan::bind_scalars(const Numpy& np, PyObject* const* externals, Frame* frame) const {
  for (const Scalar& scalar : scalars_) {
    frame->strides[scalar.slot] = 0;
  }
  for (const Constant& constant : constants_) {
    frame->strides[constant.slot] = 0;
  }
  return place_scalars(np, externals, &frame->data, &frame->scalars);
}

// All arrays of one shape, and each one row of memory in the same order. kLayout: they may still be broadcast.
RegionReason RegionPlan::bind(const Numpy& np, PyObject* const* externals, Frame* frame) const {
  if (!bind_scalars(np, externals, frame)) {
    return RegionReason::kKinds;
  }
  if (!views_.empty() || !targets_.empty() || is_staged_) {
    return RegionReason::kLayout;
  }
  for (const Input& input : inputs_) {
    PyObject* object = externals[input.external];
    const ArrayFields* array = as_array(object);
    if (Py_TYPE(object) != np.array_type || array->descr != np.descr[input.type]) {
      return RegionReason::kKinds;
    }
    if ((array->flags & kAligned) == 0 || array->nd == 0) {
      return RegionReason::kLayout;
    }
    frame->data[input.slot] = array->data;
    if (frame->shape == nullptr) {
      frame->shape = array;
    } else if (!same_shape(frame->shape, array)) {
      return RegionReason::kLayout;
    }
    if (array->nd == 1) {
      frame->strides[input.slot] = array->strides[0];
      if (reduces_inputs_ && array->strides[0] != np.item_size[input.type]) {
        return RegionReason::kLayout;
      }
      continue;
    }
    const int order = array->flags & kOrders;
    if (order == 0 || (frame->order != 0 && frame->order != order)) {
      return RegionReason::kLayout;
    }
    frame->order = order;
    frame->strides[input.slot] = np.item_size[input.type];
  }
  if (frame->shape == nullptr) {
    return RegionReason::kKinds;  // a region begins with an array
  }
  if (frame->shape->nd > 1 && frame->order == kFContiguous && is_iterated_) {
    return RegionReason::kLayout;  // operands that are cast go another way, which shows in axes of length one
  }
  for (int i = 0; i < frame->shape->nd; ++i) {
    frame->count *= frame->shape->dimensions[i];
  }
  const bool may_elide = frame->count * static_cast<Extent>(kItemSize) >= kMinElidedBytes && np.elides;
  return may_elide ? bind_elision(externals, frame) : RegionReason::kNone;
}

// Where eager would compute into its right operand it lets both change places, which shows in the payloads of NaNs.
RegionReason RegionPlan::bind_elision(PyObject* const* externals, Frame* frame) const {
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
          return RegionReason::kKinds;
        }
        if (!has_usual_strides(as_array(object), operation.out_size, frame->order == kFContiguous)) {
          return RegionReason::kLayout;
        }
      }
      frame->swapped[number] = i == 1;
      break;
    }
  }
  return RegionReason::kNone;
}

}  // namespace tagalong::array
