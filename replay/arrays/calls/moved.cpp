// Elements in other places: copies, shifts, joined arrays.
#include <algorithm>
#include <cstring>
#include <span>

#include "replay/arrays/calls/call.h"
#include "rewriter/base/dicts.h"

namespace tagalong::array {

namespace {

constexpr int kMostDims = 8;

// The arrays of an exact list or tuple, if all are plain ones of one type and one shape.
struct Equals {
  std::span<PyObject* const> arrays;
  const ArrayFields* first = nullptr;

  Equals(const Numpy& np, PyObject* sequence) {
    if (!PyTuple_CheckExact(sequence) && !PyList_CheckExact(sequence)) {
      return;
    }
    arrays = {PySequence_Fast_ITEMS(sequence), static_cast<std::size_t>(Py_SIZE(sequence))};
    const ArrayFields* model = arrays.empty() ? nullptr : plain_array(np, arrays[0]);
    const auto is_equal = [&](PyObject* object) {
      const ArrayFields* array = plain_array(np, object);
      return array != nullptr && array->nd == model->nd && type_number(array) == type_number(model) &&
             std::equal(array->dimensions, array->dimensions + array->nd, model->dimensions);
    };
    // NumPy orders the axes of the result by the strides, which say nothing where an axis has one element.
    const bool is_simple =
        model != nullptr && model->nd < kMostDims &&
        std::all_of(model->dimensions, model->dimensions + model->nd, [](Extent extent) { return extent > 1; }) &&
        std::ranges::all_of(arrays, is_equal);
    first = is_simple ? model : nullptr;
  }
};

Extent product(const Extent* first, const Extent* last) {
  Extent result = 1;
  for (; first != last; ++first) {
    result *= *first;
  }
  return result;
}

// Joins the arrays in the result, whose dimensions are given: for each index of the axes before `axis` the elements of
// one array after those of the other.
PyObject* join(const Numpy& np, const Equals& equals, int axis, int nd, const Extent* dims) {
  const ArrayFields& first = *equals.first;
  const unsigned type = type_number(&first);
  PyObject* made = new_array(np, type, nd, dims);
  if (made == nullptr) {
    return nullptr;
  }
  const Extent outer = product(dims, dims + axis);
  const auto bytes = static_cast<std::size_t>(element_count(&first) / outer) * np.item_size.at(type);
  char* to = as_array(made)->data;
  for (Extent index = 0; index < outer; ++index) {
    for (PyObject* array : equals.arrays) {
      std::memcpy(to, as_array(array)->data + static_cast<std::size_t>(index) * bytes, bytes);
      to += bytes;
    }
  }
  return made;
}

PyObject* stack_along(const Numpy& np, const Equals& equals, int axis) {
  const ArrayFields& first = *equals.first;
  std::array<Extent, kMostDims + 1> dims{};
  std::copy_n(first.dimensions, axis, dims.begin());
  dims.at(static_cast<std::size_t>(axis)) = static_cast<Extent>(equals.arrays.size());
  std::copy(first.dimensions + axis, first.dimensions + first.nd, dims.begin() + axis + 1);
  return join(np, equals, axis, first.nd + 1, dims.data());
}

PyObject* concatenate_along(const Numpy& np, const Equals& equals, int axis) {
  const ArrayFields& first = *equals.first;
  std::array<Extent, kMostDims> dims{};
  std::copy_n(first.dimensions, first.nd, dims.begin());
  dims.at(static_cast<std::size_t>(axis)) *= static_cast<Extent>(equals.arrays.size());
  return join(np, equals, axis, first.nd, dims.data());
}

// The result of a shift takes the elements in two pieces for each index of the axes before the axis.
PyObject* shifted(const Numpy& np, const ArrayFields* array, Extent shift, int axis) {
  const unsigned type = type_number(array);
  PyObject* made = new_array(np, type, array->nd, array->dimensions);
  if (made == nullptr) {
    return nullptr;
  }
  const Extent outer = product(array->dimensions, array->dimensions + axis);
  const Extent length = array->dimensions[axis];
  const Extent inner = product(array->dimensions + axis + 1, array->dimensions + array->nd);
  const auto unit = static_cast<std::size_t>(inner) * np.item_size.at(type);
  const auto tail = static_cast<std::size_t>(((shift % length) + length) % length) * unit;
  const std::size_t whole = static_cast<std::size_t>(length) * unit;
  for (std::size_t index = 0; index < static_cast<std::size_t>(outer); ++index) {
    const char* from = array->data + index * whole;
    char* to = as_array(made)->data + index * whole;
    std::memcpy(to, from + (whole - tail), tail);
    std::memcpy(to + tail, from, whole - tail);
  }
  return made;
}

}  // namespace

PyObject* copy(const Call& call) {
  const ArrayFields* array = plain_array(call.np, call.parameters[0]);
  PyObject* made = array == nullptr ? nullptr : new_array(call.np, type_number(array), array->nd, array->dimensions);
  if (made != nullptr) {
    const auto bytes = static_cast<std::size_t>(element_count(array)) * call.np.item_size.at(type_number(array));
    std::memcpy(as_array(made)->data, array->data, bytes);
  }
  return made;
}

PyObject* concatenate(const Call& call) {
  const Equals equals(call.np, call.parameters[0]);
  int axis = 0;
  const bool is_read = equals.first != nullptr &&
                       (call.parameters[1] == nullptr || read_axis(call.parameters[1], equals.first->nd, &axis));
  return is_read ? concatenate_along(call.np, equals, axis) : forward_one_width(call);
}

PyObject* roll(const Call& call) {
  const ArrayFields* array = plain_array(call.np, call.parameters[0]);
  Extent shift = 0;
  int axis = -1;
  const bool is_read = array != nullptr && element_count(array) > 0 &&
                       read_int(call.parameters[1], -PY_SSIZE_T_MAX / 2, PY_SSIZE_T_MAX / 2, &shift) &&
                       (call.has(2) ? read_axis(call.parameters[2], array->nd, &axis) : array->nd == 1);
  Ref made = Ref::steal(is_read ? shifted(call.np, array, shift, std::max(axis, 0)) : nullptr);
  if (!made || axis >= 0) {
    return made.release();
  }
  // Without an axis NumPy reshapes the result, which makes a view of it.
  static PyObject* const view = item_of(call.np.array_type->tp_dict, "view");
  PyObject* result = view == nullptr ? nullptr : PyObject_CallOneArg(view, made.get());
  return result == nullptr ? forget_error() : result;
}

PyObject* stack(const Call& call) {
  const Equals equals(call.np, call.parameters[0]);
  int axis = 0;
  const bool is_read = equals.first != nullptr &&
                       (call.parameters[1] == nullptr || read_axis(call.parameters[1], equals.first->nd + 1, &axis));
  return is_read ? stack_along(call.np, equals, axis) : nullptr;
}

PyObject* hstack(const Call& call) {
  const Equals equals(call.np, call.parameters[0]);
  return equals.first == nullptr ? nullptr : concatenate_along(call.np, equals, equals.first->nd == 1 ? 0 : 1);
}

PyObject* vstack(const Call& call) {
  const Equals equals(call.np, call.parameters[0]);
  return equals.first == nullptr ? nullptr
         : equals.first->nd == 1 ? stack_along(call.np, equals, 0)
                                 : concatenate_along(call.np, equals, 0);
}

}  // namespace tagalong::array
