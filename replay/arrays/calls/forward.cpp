// Calls of functions that are written in C. What their arguments are decides that they run no code of the program and
// report nothing: they do no arithmetic that could raise floating point flags, and convert no floating point number to
// another width.
#include <algorithm>
#include <cmath>

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

// The widths of the numbers that a function converts to one dtype. NumPy reports the conversion of a signalling NaN to
// another width, and of a number that the narrower type does not hold.
class Widths {
 public:
  // Words and None have none.
  void add(const Numpy& np, PyObject* object) {
    if (is_sequence(object)) {
      PyObject** items = PySequence_Fast_ITEMS(object);
      std::for_each(items, items + Py_SIZE(object), [&](PyObject* item) { add(np, item); });
      return;
    }
    const OperandCode code = classify(np, object);
    if (code == kPyInt || code == kPyFloat || code == kPyComplex) {
      has_python_numbers_ = true;
      fits_single_ = fits_single_ && is_single(object);
    } else if (code != kForeign && code != kPyBool) {
      add_type(np, type_of(code));
    }
  }
  [[nodiscard]] bool are_equal() const {
    return has_one_ && (width_ == 0 || width_ == sizeof(double) ||
                        (!has_integers_ && (width_ == sizeof(float) ? fits_single_ : !has_python_numbers_)));
  }

 private:
  static bool is_single(PyObject* number) {
    constexpr double kExactInts = 1 << 24;
    if (PyLong_CheckExact(number)) {
      int overflow = 0;
      const long value = PyLong_AsLongAndOverflow(number, &overflow);
      return overflow == 0 && std::abs(static_cast<double>(value)) <= kExactInts;
    }
    const double value = PyFloat_CheckExact(number) ? PyFloat_AS_DOUBLE(number) : std::nan("");
    return static_cast<double>(static_cast<float>(value)) == value;
  }
  void add_type(const Numpy& np, unsigned type) {
    if (type == kBool) {
      return;
    }
    if (!is_floating(type) && !is_complex(type)) {
      has_integers_ = true;
      return;
    }
    const unsigned width = np.item_size.at(type) / (is_complex(type) ? 2 : 1);
    has_one_ = has_one_ && (width_ == 0 || width_ == width);
    width_ = width;
  }

  unsigned width_ = 0;  // bytes of floating point numbers; 0: there are none
  bool has_one_ = true;
  bool has_integers_ = false;
  bool has_python_numbers_ = false;
  bool fits_single_ = true;  // all numbers of Python are exact in single precision
};

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

PyObject* forward_one_width(const Call& call) {
  Widths widths;
  if (!are_quiet(call)) {
    return nullptr;
  }
  std::for_each(call.arguments, call.arguments + call.count,
                [&](PyObject* argument) { widths.add(call.np, argument); });
  return widths.are_equal() ? make(call) : nullptr;
}

PyObject* forward_one_width_to_method(const Call& call) {
  return is_array_of_numbers(call.np, call.parameters[0]) ? forward_one_width(call) : nullptr;
}

// With one argument it is np.nonzero, which gives a warning for an array without dimensions.
PyObject* forward_where(const Call& call) { return call.count > 1 ? forward_one_width(call) : forward_to_method(call); }

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
