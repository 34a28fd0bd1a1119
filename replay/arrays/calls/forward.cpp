// Calls of functions that are written in C. What their arguments are decides that they run no code of the program and
// report nothing: they do no arithmetic that could raise floating point flags, and convert numbers to wider types only.
#include <algorithm>

#include "replay/arrays/calls/call.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/collector.h"

namespace tagalong::array {

namespace {

constexpr Py_ssize_t kMostItems = 64;  // of a sequence, which is looked through before each call
constexpr int kMostNested = 3;
constexpr int kMade = 4;  // containers at most

bool is_sequence(PyObject* object) { return PyTuple_CheckExact(object) || PyList_CheckExact(object); }

// Numbers, arrays of numbers, sequences of these, and words.
bool is_quiet(const Numpy& np, PyObject* object, int depth = 0) {
  if (is_sequence(object)) {
    PyObject** items = PySequence_Fast_ITEMS(object);
    return depth < kMostNested && Py_SIZE(object) <= kMostItems &&
           std::all_of(items, items + Py_SIZE(object), [&](PyObject* item) { return is_quiet(np, item, depth + 1); });
  }
  const bool is_word = depth == 0 && PyUnicode_CheckExact(object);
  return object == Py_None || PyBool_Check(object) || is_word || classify(np, object) != kForeign;
}

bool is_shape(const Numpy& np, PyObject* object) {
  const auto is_extent = [&](PyObject* item) {
    const OperandCode code = classify(np, item);
    return code == kPyInt || (is_numpy_scalar(code) && is_integer(type_of(code)));
  };
  if (!is_sequence(object)) {
    return is_extent(object);
  }
  PyObject** items = PySequence_Fast_ITEMS(object);
  return Py_SIZE(object) <= kMostItems && std::all_of(items, items + Py_SIZE(object), is_extent);
}

bool is_dtype(const Numpy& np, PyObject* object) {
  const auto is_type = [object](const void* type) { return object == type; };
  return is_type(&PyFloat_Type) || is_type(&PyLong_Type) || is_type(&PyBool_Type) || is_type(&PyComplex_Type) ||
         std::ranges::any_of(np.descr, is_type) || std::ranges::any_of(np.scalar_type, is_type);
}

PyObject* make(const Call& call) {
  if (call.target == nullptr || cpython::may_collect(cpython::thread_state(), kMade)) {
    return nullptr;
  }
  const Py_ssize_t named = call.names == nullptr ? 0 : PyTuple_GET_SIZE(call.names);
  PyObject* result =
      PyObject_Vectorcall(call.target, call.arguments, static_cast<std::size_t>(call.count - named), call.names);
  return result == nullptr ? forget_error() : result;
}

bool are_quiet(const Call& call) {
  return std::all_of(call.arguments, call.arguments + call.count,
                     [&](PyObject* argument) { return is_quiet(call.np, argument); });
}

bool is_array_of_numbers(const Numpy& np, PyObject* object) { return is_array(classify(np, object)); }

}  // namespace

PyObject* forward(const Call& call) { return are_quiet(call) ? make(call) : nullptr; }

PyObject* forward_to_method(const Call& call) {
  return is_array_of_numbers(call.np, call.parameters[0]) ? forward(call) : nullptr;
}

// With one argument it is np.nonzero, which gives a warning for an array without dimensions.
PyObject* forward_where(const Call& call) { return call.count > 1 ? forward(call) : forward_to_method(call); }

PyObject* forward_shape(const Call& call) {
  const auto& given = call.parameters;
  const auto is_word = [](PyObject* object) {
    return object == nullptr || object == Py_None || PyUnicode_CheckExact(object);
  };
  const bool is_plain = is_shape(call.np, given[0]) && (!call.has(1) || is_dtype(call.np, given[1])) &&
                        is_word(given[2]) && is_word(given[3]) && !call.has(4);
  return is_plain ? make(call) : nullptr;
}

}  // namespace tagalong::array
