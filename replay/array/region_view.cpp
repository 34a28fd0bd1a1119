#include "replay/array/region_view.h"

#include <optional>

namespace tagalong::array {

namespace {

// Empty: not an integer that fits.
std::optional<Extent> read(const ViewSpec::Number& number, PyObject* const* externals) {
  if (number.external < 0) {
    return number.value;
  }
  PyObject* object = externals[number.external];
  if (!PyLong_CheckExact(object)) {
    return std::nullopt;
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 ? std::optional<Extent>(value) : std::nullopt;
}

}  // namespace

bool take_view(const ViewSpec& spec, PyObject* const* externals, View* view) {
  const ArrayFields* array = as_array(externals[spec.external]);
  View whole;
  if (!view_of(array, &whole) || static_cast<int>(spec.axes.size()) > whole.shape.nd) {
    return false;
  }
  *view = whole;
  view->shape.nd = 0;
  for (int axis = 0; axis < whole.shape.nd; ++axis) {
    const Extent extent = whole.shape.dims[axis];
    const Extent stride = whole.strides[axis];
    const auto place = static_cast<std::size_t>(axis);
    if (place < spec.axes.size() && !spec.axes[place].is_slice) {
      const auto index = read(spec.axes[place].start, externals);
      if (!index || *index >= extent || *index < -extent) {
        return false;
      }
      view->data += (*index < 0 ? *index + extent : *index) * stride;
      continue;
    }
    Extent start = 0;
    Extent step = 1;
    Extent length = extent;
    if (place < spec.axes.size()) {
      const ViewSpec::Axis& slice = spec.axes[place];
      const auto step_read = slice.step.is_none ? std::optional<Extent>(1) : read(slice.step, externals);
      if (!step_read || *step_read == 0 || *step_read < -PY_SSIZE_T_MAX) {
        return false;
      }
      step = *step_read;
      const auto start_read =
          slice.start.is_none ? std::optional<Extent>(step < 0 ? PY_SSIZE_T_MAX : 0) : read(slice.start, externals);
      const auto stop_read = slice.stop.is_none ? std::optional<Extent>(step < 0 ? PY_SSIZE_T_MIN : PY_SSIZE_T_MAX)
                                                : read(slice.stop, externals);
      if (!start_read || !stop_read) {
        return false;
      }
      start = *start_read;
      Extent stop = *stop_read;
      length = PySlice_AdjustIndices(extent, &start, &stop, step);
    }
    view->data += length > 0 ? start * stride : 0;
    view->shape.dims[view->shape.nd] = length;
    view->strides[view->shape.nd++] = stride * step;
  }
  return view->shape.nd > 0;
}

}  // namespace tagalong::array
