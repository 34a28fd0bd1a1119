#include "replay/arrays/fusion/array_view.h"

#include <algorithm>
#include <cstring>

namespace tagalong::array {

std::optional<Extent> read_number(const ViewSpec::Number& number, PyObject* const* externals) {
  if (number.external < 0) {
    return number.value;
  }
  PyObject* object = externals[number.external];
  if (number.item >= 0) {
    object = PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == number.items
                 ? PyTuple_GET_ITEM(object, number.item)
                 : Py_None;
  }
  if (const Numpy* np = met_numpy(); np != nullptr && Py_TYPE(object) == np->scalar_type[kLong]) {
    std::int64_t value = 0;
    std::memcpy(&value, scalar_value(object), sizeof(value));
    return value;
  }
  if (!PyLong_CheckExact(object)) {
    return std::nullopt;
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 ? std::optional<Extent>(value) : std::nullopt;
}

namespace {

bool take_part(const ViewSpec::Subscript& subscript, const View& whole, PyObject* const* externals, View* view) {
  *view = whole;
  view->shape.nd = 0;
  const auto add = [view](Extent extent, Extent stride) {
    if (view->shape.nd == kMaxFusionDims) {
      return false;
    }
    view->shape.dims[view->shape.nd] = extent;
    view->strides[view->shape.nd++] = stride;
    return true;
  };
  const auto uses_dimension = [](const ViewSpec::Axis& index) { return !index.is_new && !index.is_rest; };
  const auto rest = whole.shape.nd - static_cast<int>(std::ranges::count_if(subscript, uses_dimension));
  if (rest < 0) {
    return false;
  }
  int axis = 0;
  const auto add_rest = [&] {
    for (const int end = axis + rest; axis < end; ++axis) {
      if (!add(whole.shape.dims[axis], whole.strides[axis])) {
        return false;
      }
    }
    return true;
  };
  for (const ViewSpec::Axis& index : subscript) {
    if (index.is_new) {
      if (!add(1, 0)) {
        return false;
      }
      continue;
    }
    if (index.is_rest) {
      if (!add_rest()) {
        return false;
      }
      continue;
    }
    const Extent extent = whole.shape.dims[axis];
    const Extent stride = whole.strides[axis++];
    if (!index.is_slice) {
      const auto place = read_number(index.start, externals);
      if (!place || *place >= extent || *place < -extent) {
        return false;
      }
      view->data += (*place < 0 ? *place + extent : *place) * stride;
      continue;
    }
    const auto step = index.step.is_none ? std::optional<Extent>(1) : read_number(index.step, externals);
    if (!step || *step == 0 || *step < -PY_SSIZE_T_MAX) {
      return false;
    }
    const auto start_read = index.start.is_none ? std::optional<Extent>(*step < 0 ? PY_SSIZE_T_MAX : 0)
                                                : read_number(index.start, externals);
    const auto stop_read = index.stop.is_none ? std::optional<Extent>(*step < 0 ? PY_SSIZE_T_MIN : PY_SSIZE_T_MAX)
                                              : read_number(index.stop, externals);
    if (!start_read || !stop_read) {
      return false;
    }
    Extent start = *start_read;
    Extent stop = *stop_read;
    const Extent length = PySlice_AdjustIndices(extent, &start, &stop, *step);
    view->data += length > 0 ? start * stride : 0;
    if (!add(length, stride * *step)) {
      return false;
    }
  }
  const bool is_whole = axis == whole.shape.nd;  // there is an ellipsis, or an index for each dimension
  return (is_whole || add_rest()) && view->shape.nd > 0;
}

// False: an axis or a shift is not as planned, or the layout of what np.roll returns is not known.
bool roll(const ViewSpec& spec, PyObject* const* externals, View* view) {
  const Shape& shape = view->shape;
  const bool has_single =
      std::find(shape.dims.begin(), shape.dims.begin() + shape.nd, 1) != shape.dims.begin() + shape.nd;
  if (!view->is_aligned || (spec.is_composed && has_single)) {
    return false;
  }
  for (const ViewSpec::Roll& roll : spec.rolls) {
    const int axis = roll.axis < 0 ? roll.axis + shape.nd : roll.axis;
    const auto shift = read_number(roll.shift, externals);
    if (axis < 0 || axis >= shape.nd || !shift || shape.dims[axis] == 0) {
      return false;
    }
    const Extent extent = shape.dims[axis];
    const Extent start = (view->starts[axis] - *shift % extent) % extent;
    view->starts[axis] = start < 0 ? start + extent : start;
  }
  view->is_rolled = std::ranges::any_of(view->starts, [](Extent start) { return start != 0; });
  return true;
}

}  // namespace

bool take_view(const ViewSpec& spec, const ArrayFields* array, PyObject* const* externals, View* view) {
  View whole;
  return view_of(array, &whole) && take_view(spec, whole, externals, view);
}

bool take_view(const ViewSpec& spec, const View& whole, PyObject* const* externals, View* view) {
  const auto take_further = [&](const ViewSpec::Subscript& subscript) {
    const View part = *view;
    return take_part(subscript, part, externals, view);
  };
  return take_part(spec.axes, whole, externals, view) && std::ranges::all_of(spec.further, take_further) &&
         (spec.nd == 0 || view->shape.nd == spec.nd) && (spec.rolls.empty() || roll(spec, externals, view));
}

}  // namespace tagalong::array
