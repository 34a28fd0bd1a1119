// New arrays with the shape of another one, and arrays that get one number.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "replay/arrays/calls/call.h"
#include "replay/arrays/fusion/iteration_space.h"

namespace tagalong::array {

namespace {

constexpr Extent kMostExactInt = Extent{1} << 53;  // doubles represent all smaller ints exactly

// The bytes of an element of this type that has the value of the Python number. False: a cast could report something,
// or gives another value.
bool read_element(PyObject* number, unsigned type, char* bytes) {
  Extent value = 0;
  if (type == kDouble && PyFloat_CheckExact(number)) {
    const double real = PyFloat_AS_DOUBLE(number);
    std::memcpy(bytes, &real, sizeof(real));
    return true;
  }
  if (type == kDouble && read_int(number, -kMostExactInt, kMostExactInt, &value)) {
    const auto real = static_cast<double>(value);
    std::memcpy(bytes, &real, sizeof(real));
    return true;
  }
  if (type == kLong && read_int(number, PY_SSIZE_T_MIN, PY_SSIZE_T_MAX, &value)) {
    std::memcpy(bytes, &value, sizeof(value));
    return true;
  }
  if (type == kBool && PyBool_Check(number)) {
    *bytes = number == Py_True ? 1 : 0;
    return true;
  }
  return false;
}

// An array of the shape and type of `object`, each element with the value of the number.
PyObject* filled_like(const Numpy& np, PyObject* object, PyObject* number) {
  const ArrayFields* model = plain_array(np, object);
  alignas(16) char element[kScalarBytes] = {};
  if (model == nullptr || (number != nullptr && !read_element(number, type_number(model), element))) {
    return nullptr;
  }
  const unsigned type = type_number(model);
  PyObject* made = new_array(np, type, model->nd, model->dimensions);
  if (made != nullptr) {
    const std::size_t size = np.item_size.at(type);
    if (number == nullptr) {
      std::memset(as_array(made)->data, 0, static_cast<std::size_t>(element_count(model)) * size);
    } else {
      fill_row(element, size, element_count(model), as_array(made)->data);
    }
  }
  return made;
}

struct Extents {
  int nd = -1;  // negative: the object is no shape that is handled here
  std::array<Extent, kMaxFusionDims> dims{};

  explicit Extents(PyObject* object) {
    constexpr Extent kMost = Extent{1} << 40;  // more elements do not fit into memory
    PyObject** items = PyTuple_CheckExact(object) ? PySequence_Fast_ITEMS(object) : &object;
    const Py_ssize_t count = PyTuple_CheckExact(object) ? PyTuple_GET_SIZE(object) : 1;
    Extent elements = 1;
    if (count > kMaxFusionDims) {
      return;
    }
    for (Py_ssize_t axis = 0; axis < count; ++axis) {
      Extent& extent = dims.at(static_cast<std::size_t>(axis));
      if (!read_int(items[axis], 0, kMost, &extent) || (extent > 0 && elements > kMost / extent)) {
        return;
      }
      elements *= std::max<Extent>(extent, 1);
    }
    nd = static_cast<int>(count);
  }
};

// The type that a Python type or one of NumPy's means; kTypeNumbers: it is not handled here.
unsigned type_meant(const Numpy& np, PyObject* object) {
  const auto is = [object](const void* type) { return object == type; };
  return is(&PyFloat_Type) || is(np.scalar_type[kDouble]) || is(np.descr[kDouble]) ? unsigned{kDouble}
         : is(&PyLong_Type) || is(np.scalar_type[kLong]) || is(np.descr[kLong])    ? unsigned{kLong}
         : is(&PyBool_Type) || is(np.scalar_type[kBool]) || is(np.descr[kBool])    ? unsigned{kBool}
                                                                                   : kTypeNumbers;
}

PyObject* filled_new(const Numpy& np, PyObject* dims, unsigned type, PyObject* number) {
  alignas(16) char element[kScalarBytes] = {};
  const Extents shape(dims);
  if (shape.nd < 0 || type == kTypeNumbers || !read_element(number, type, element)) {
    return nullptr;
  }
  PyObject* made = new_array(np, type, shape.nd, shape.dims.data());
  if (made != nullptr) {
    fill_row(element, np.item_size.at(type), element_count(as_array(made)), as_array(made)->data);
  }
  return made;
}

}  // namespace

PyObject* ones(const Call& call) {
  static PyObject* const one = PyLong_FromLong(1);
  const unsigned type = call.has(1) ? type_meant(call.np, call.parameters[1]) : unsigned{kDouble};
  return filled_new(call.np, call.parameters[0], type, type == kBool ? Py_True : one);
}

PyObject* full(const Call& call) {
  PyObject* number = call.parameters[1];
  const bool is_number = number != nullptr && is_python_number(classify(call.np, number));
  if (!is_number) {
    return nullptr;
  }
  PyObject* meant = call.has(2) ? call.parameters[2] : reinterpret_cast<PyObject*>(Py_TYPE(number));
  return filled_new(call.np, call.parameters[0], type_meant(call.np, meant), number);
}

PyObject* zeros_like(const Call& call) { return filled_like(call.np, call.parameters[0], nullptr); }

PyObject* ones_like(const Call& call) {
  const ArrayFields* model = plain_array(call.np, call.parameters[0]);
  static PyObject* const one = PyLong_FromLong(1);
  const bool is_bool = model != nullptr && type_number(model) == kBool;
  return model == nullptr ? nullptr : filled_like(call.np, call.parameters[0], is_bool ? Py_True : one);
}

PyObject* full_like(const Call& call) {
  PyObject* number = call.parameters[1];
  return number == nullptr ? nullptr : filled_like(call.np, call.parameters[0], number);
}

// np.ones and np.full end with such a call, with an array that they have just made.
PyObject* copy_number_to(const Call& call) {
  const ArrayFields* target = plain_array(call.np, call.parameters[0]);
  PyObject* number = call.parameters[1];
  PyObject* casting = call.parameters[2];
  constexpr int kWanted = kWriteable | kOwnData;
  alignas(16) char element[kScalarBytes] = {};
  if (target == nullptr || number == nullptr || (target->flags & kWanted) != kWanted ||
      (target->flags & kWarnOnWrite) != 0 ||
      (casting != nullptr &&
       (!PyUnicode_CheckExact(casting) || PyUnicode_CompareWithASCIIString(casting, "unsafe") != 0))) {
    return nullptr;
  }
  const unsigned type = type_number(target);
  const std::size_t size = call.np.item_size.at(type);
  if (classify(call.np, number) == kZeroDim + type &&
      size <= sizeof(std::uint64_t)) {  // np.full makes an array of its number
    std::memcpy(element, as_array(number)->data, size);
  } else if (!read_element(number, type, element)) {
    return nullptr;
  }
  fill_row(element, size, element_count(target), target->data);
  return Py_NewRef(Py_None);
}

}  // namespace tagalong::array
