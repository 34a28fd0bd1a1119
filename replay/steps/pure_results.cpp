#include "replay/steps/pure_results.h"

#include <opcode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "replay/arrays/calls/numpy_calls.h"
#include "replay/arrays/kernels/casts.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/objects/calls_without_user_code.h"
#include "replay/objects/known_functions.h"
#include "replay/objects/numpy_scalars.h"
#include "replay/objects/operations.h"
#include "replay/objects/unboxed.h"
#include "replay/steps/known_attributes.h"
#include "rewriter/base/dicts.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/collector.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {
namespace {

using Operands = std::span<PyObject* const>;

constexpr int kMade = 4;  // containers at most that a step makes, an exception among them

bool may_collect() { return cpython::may_collect(cpython::thread_state(), kMade); }

bool is_array(PyObject* object) {
  const array::Numpy* np = array::met_numpy();
  return np != nullptr && Py_TYPE(object) == np->array_type;
}

bool is_numpy_float(PyObject* object) { return unboxed_of(Py_TYPE(object)) == Unboxed::kNumpyFloat; }
bool is_numpy_number(PyObject* object) {
  return is_numpy_float(object) || unboxed_of(Py_TYPE(object)) == Unboxed::kNumpyInt;
}

// --- numbers

// NumPy reports an error of a function of doubles only if the result is one of these.
bool may_be_reported(double result) { return !std::isnormal(result); }

PyObject* numpy_power(PyObject* left, PyObject* right) {
  UnboxedNumber base{};
  UnboxedNumber exponent{};
  if (!is_numpy_float(left) || !unbox(left, Unboxed::kNumpyFloat, &base)) {
    return nullptr;
  }
  if (PyLong_CheckExact(right) && unbox(right, Unboxed::kInt, &exponent)) {
    exponent.d = static_cast<double>(exponent.i);
  } else if (!PyFloat_CheckExact(right) || !unbox(right, Unboxed::kFloat, &exponent)) {
    return nullptr;
  }
  return may_be_reported(std::pow(base.d, exponent.d)) ? nullptr : PyNumber_Power(left, right, Py_None);
}

bool is_float32(PyObject* object) {
  const array::Numpy* np = array::met_numpy();
  return np != nullptr && Py_TYPE(object) == np->scalar_type[array::kFloat];
}

// Whether NumPy reports nothing for a float32 of this magnitude.
bool is_moderate(double value) {
  constexpr double kMost = 1e37;
  constexpr double kLeast = 1e-37;
  const double magnitude = std::fabs(value);
  return value == 0 || (magnitude > kLeast && magnitude < kMost);
}

// The value of a number that takes part in arithmetic of float32. Empty: it is no such number, or not moderate.
std::optional<double> moderate(PyObject* object) {
  UnboxedNumber number{};
  double value = 0;
  if (is_float32(object)) {
    float single = 0;
    std::memcpy(&single, array::scalar_value(object), sizeof single);
    value = single;
  } else if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
  } else if (PyLong_CheckExact(object) && unbox(object, Unboxed::kInt, &number)) {
    value = static_cast<double>(number.i);
  } else {
    return std::nullopt;
  }
  return is_moderate(value) ? std::optional(value) : std::nullopt;
}

// NumPy computes it, where it has nothing to report.
PyObject* float32_result(int argument, PyObject* left, PyObject* right) {
  const std::optional<double> x = moderate(left);
  const std::optional<double> y = moderate(right);
  if (!x || !y) {
    return nullptr;
  }
  double result = 0;
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      result = *x + *y;
      break;
    case NB_SUBTRACT:
      result = *x - *y;
      break;
    case NB_MULTIPLY:
      result = *x * *y;
      break;
    case NB_TRUE_DIVIDE:
      result = *y == 0 ? HUGE_VAL : *x / *y;
      break;
    default:
      return nullptr;
  }
  return is_moderate(result) ? binary_operation(argument, left, right) : nullptr;
}

PyObject* binary_result(int argument, PyObject* left, PyObject* right) {
  if (cpython::is_exact_number(left) && cpython::is_exact_number(right)) {
    return may_take_long(argument, left, right) ? nullptr : binary_operation(argument, left, right);
  }
  if (is_float32(left) || is_float32(right)) {
    return float32_result(argument, left, right);
  }
  if (!is_numpy_number(left) && !is_numpy_number(right)) {
    return nullptr;
  }
  const bool is_float = is_numpy_float(left) || is_numpy_float(right) || PyFloat_CheckExact(left) ||
                        PyFloat_CheckExact(right) || argument % NB_INPLACE_ADD == NB_TRUE_DIVIDE;
  if (argument % NB_INPLACE_ADD == NB_POWER) {
    return numpy_power(left, right);
  }
  return is_float ? float64_binary(argument, left, right) : int64_binary(argument, left, right);
}

PyObject* unary_result(UnaryOperator op, PyObject* operand) {
  const bool is_negative_float = is_numpy_float(operand) && op == UnaryOperator::kNegative;
  return cpython::is_exact_number(operand) || is_negative_float ? unary_operation(op, operand) : nullptr;
}

PyObject* compare_result(int comparison, PyObject* left, PyObject* right) {
  if (cpython::is_exact_number(left) && cpython::is_exact_number(right)) {
    return compare(comparison, left, right);
  }
  if (is_float32(left) || is_float32(right)) {
    return moderate(left) && moderate(right) ? compare(comparison, left, right) : nullptr;
  }
  return is_numpy_number(left) || is_numpy_number(right) ? scalar_compare(comparison, left, right) : nullptr;
}

PyObject* truth_result(PyObject* operand, bool is_negated) {
  if (unboxed_of(Py_TYPE(operand)) != Unboxed::kNone) {
    return Py_NewRef(number_truth(operand) != is_negated ? Py_True : Py_False);
  }
  const bool is_plain = cpython::is_exact_number(operand) || operand == Py_None || PyList_CheckExact(operand) ||
                        PyTuple_CheckExact(operand) || PyDict_CheckExact(operand) || PyUnicode_CheckExact(operand);
  const int truth = is_plain ? PyObject_IsTrue(operand) : -1;
  return truth < 0 ? nullptr : Py_NewRef((truth != 0) != is_negated ? Py_True : Py_False);
}

// --- objects

// Attributes of arrays that say how an array is made, not what it contains.
bool describes_arrays(PyObject* name) {
  constexpr std::array kNames = {"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "T"};
  return std::ranges::any_of(kNames,
                             [&](const char* known) { return PyUnicode_CompareWithASCIIString(name, known) == 0; });
}

// A view of the real or the imaginary parts. Of other numbers it would be the array itself, or an array of zeros.
bool is_component(PyObject* name, PyObject* object) {
  return array::holds_complex(*array::met_numpy(), array::as_array(object)) &&
         (PyUnicode_CompareWithASCIIString(name, "real") == 0 || PyUnicode_CompareWithASCIIString(name, "imag") == 0);
}

PyObject* attribute_result(const Step& step, PyObject* object) {
  if (is_array(object)) {
    const bool is_known = describes_arrays(step.object) || is_component(step.object, object);
    return is_known && !may_collect() ? PyObject_GetAttr(object, step.object) : nullptr;
  }
  if (PyType_Check(object)) {
    return Py_XNewRef(cpython::find_class_attribute(object, step.object));
  }
  const cpython::Attribute* known = known_attribute(step, Py_TYPE(object));
  return known == nullptr ? nullptr : load_known(object, *known);
}

PyObject* method_result(const Step& step, PyObject* object, int number) {
  const cpython::Attribute* known = known_attribute(step, Py_TYPE(object));
  std::array<PyObject*, 2> results{};
  if (known == nullptr || !load_known_method(object, *known, results.data())) {
    return nullptr;
  }
  Py_XDECREF(results.at(static_cast<std::size_t>(1 - number)));
  return results.at(static_cast<std::size_t>(number));
}

PyObject* item_result(PyObject* container, PyObject* key) {
  if (may_collect()) {
    return nullptr;
  }
  if (PyList_CheckExact(container) || PyTuple_CheckExact(container)) {
    return PyLong_CheckExact(key) ? PyObject_GetItem(container, key) : nullptr;
  }
  if (PyDict_CheckExact(container)) {
    return PyUnicode_CheckExact(key) ? Py_XNewRef(cpython::find_without_side_effects(container, key)) : nullptr;
  }
  return has_plain_items(container) && cpython::is_basic_index(key) ? PyObject_GetItem(container, key) : nullptr;
}

PyObject* unpacked(PyObject* sequence, Py_ssize_t count, int number) {
  const bool is_known =
      (PyTuple_CheckExact(sequence) || PyList_CheckExact(sequence)) && PySequence_Fast_GET_SIZE(sequence) == count;
  return is_known ? Py_NewRef(PySequence_Fast_GET_ITEM(sequence, number)) : nullptr;
}

// Counted from the end: number 1 belongs to the last positional parameter.
PyObject* default_of(PyObject* function, Py_ssize_t back) {
  PyObject* defaults = PyFunction_Check(function) ? PyFunction_GET_DEFAULTS(function) : nullptr;
  const Py_ssize_t size = defaults == nullptr ? 0 : PyTuple_GET_SIZE(defaults);
  return back >= 1 && back <= size ? Py_NewRef(PyTuple_GET_ITEM(defaults, size - back)) : nullptr;
}

PyObject* tuple_of(Operands items) {
  PyObject* tuple = may_collect() ? nullptr : PyTuple_New(static_cast<Py_ssize_t>(items.size()));
  for (std::size_t index = 0; tuple != nullptr && index < items.size(); ++index) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(index), Py_NewRef(items[index]));
  }
  return tuple;
}

PyObject* list_of(Operands items) {
  PyObject* list = may_collect() ? nullptr : PyList_New(static_cast<Py_ssize_t>(items.size()));
  for (std::size_t index = 0; list != nullptr && index < items.size(); ++index) {
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(index), Py_NewRef(items[index]));
  }
  return list;
}

// An object before __init__, whose end runs no code should the group not be run.
PyObject* instance_of(PyObject* object) {
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  const bool is_known = PyType_Check(object) && type->tp_new == PyBaseObject_Type.tp_new &&
                        type->tp_finalize == nullptr && type->tp_del == nullptr;
  const Ref none = is_known && !may_collect() ? Ref::steal(PyTuple_New(0)) : Ref();
  return none ? PyBaseObject_Type.tp_new(type, none.get(), nullptr) : nullptr;
}

// --- calls

using RealFunction = double (*)(double);

struct RealUfunc {
  const char* name;
  RealFunction function;
  bool takes_ints = true;  // converts them to doubles
};

double to_radians(double degrees) { return degrees * (M_PI / 180); }
double to_degrees(double radians) { return radians * (180 / M_PI); }

// The C function that computes what the ufunc does of a double; null: the ufunc is not known.
const RealUfunc* real_ufunc(const array::Numpy& np, PyObject* ufunc) {
  using Row = RealUfunc;
  static constexpr std::array kRows = {Row{"sqrt", std::sqrt},
                                       Row{"exp", std::exp},
                                       Row{"log", std::log},
                                       Row{"sin", std::sin},
                                       Row{"cos", std::cos},
                                       Row{"tan", std::tan},
                                       Row{"tanh", std::tanh},
                                       Row{"arctan", std::atan},
                                       Row{"log10", std::log10},
                                       Row{"log2", std::log2},
                                       Row{"log1p", std::log1p},
                                       Row{"expm1", std::expm1},
                                       Row{"exp2", std::exp2},
                                       Row{"arcsin", std::asin},
                                       Row{"arccos", std::acos},
                                       Row{"sinh", std::sinh},
                                       Row{"cosh", std::cosh},
                                       Row{"cbrt", std::cbrt},
                                       Row{"radians", to_radians},
                                       Row{"deg2rad", to_radians},
                                       Row{"degrees", to_degrees},
                                       Row{"rad2deg", to_degrees},
                                       Row{"absolute", std::fabs, false},
                                       Row{"floor", std::floor, false},
                                       Row{"ceil", std::ceil, false}};
  static std::array<PyObject*, kRows.size()> ufuncs{};  // owned; under the GIL
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    if (ufuncs.at(row) == nullptr) {
      ufuncs.at(row) = Py_XNewRef(item_of(PyModule_GetDict(np.umath), kRows.at(row).name));
    }
    if (ufuncs.at(row) == ufunc) {
      return &kRows.at(row);
    }
  }
  return nullptr;
}

// Calls of NumPy's functions of one number, where NumPy reports no error.
PyObject* ufunc_result(Operands slots) {
  constexpr std::size_t kUnary = 3;
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || slots.size() != kUnary || slots[0] != nullptr || Py_TYPE(slots[1]) != np->ufunc_type) {
    return nullptr;
  }
  const Unboxed kind = unboxed_of(Py_TYPE(slots[2]));
  UnboxedNumber number{};
  if (!(is_int(kind) || is_float(kind)) || !unbox(slots[2], kind, &number)) {
    return nullptr;
  }
  const RealUfunc* known = real_ufunc(*np, slots[1]);
  const double operand = is_int(kind) ? static_cast<double>(number.i) : number.d;
  return known == nullptr || (is_int(kind) && !known->takes_ints) || !std::isfinite(operand) ||
                 may_be_reported(known->function(operand)) || may_collect()
             ? nullptr
             : PyObject_CallOneArg(slots[1], slots[2]);
}

PyObject* length_result(PyObject* container) {
  std::int64_t length = 0;
  return length_of(container, &length) ? PyLong_FromLongLong(length) : nullptr;
}

bool are_lengths(PyObject* argument) {
  const auto is_length = [](PyObject* each) { return PyLong_CheckExact(each) != 0; };
  return is_length(argument) || (PyTuple_CheckExact(argument) &&
                                 std::all_of(PySequence_Fast_ITEMS(argument),
                                             PySequence_Fast_ITEMS(argument) + PyTuple_GET_SIZE(argument), is_length));
}

// Methods of arrays that give a view, called with ints. Null: the method would copy the elements, or raise.
PyObject* view_result(Operands slots) {
  if (!is_array(slots[1]) || Py_TYPE(slots[0]) != &PyMethodDescr_Type || may_collect() ||
      reinterpret_cast<PyDescrObject*>(slots[0])->d_type != Py_TYPE(slots[1]) ||
      !array::gives_view(reinterpret_cast<PyDescrObject*>(slots[0])->d_name) ||
      !std::ranges::all_of(slots.subspan(2), are_lengths)) {
    return nullptr;
  }
  Ref result = Ref::steal(call(slots.data(), static_cast<Py_ssize_t>(slots.size()), nullptr));
  const bool is_view =
      result && is_array(result.get()) && array::as_array(result.get())->data == array::as_array(slots[1])->data;
  return is_view ? result.release() : nullptr;
}

// Calls of NumPy's functions that only make new arrays and numbers.
PyObject* numpy_call_result(const Step& step, Operands slots) {
  const array::NumpyCall* row = array::find_numpy_call(slots.data());
  PyObject* names = step.object == Py_None ? nullptr : step.object;
  return row == nullptr || array::reads_of(*row) == array::CallReads::kApart || may_collect()
             ? nullptr
             : array::call_directly(*row, slots.data(), static_cast<int>(slots.size()), names);
}

// Whether the type of integers has this value. Even type numbers are unsigned.
bool holds_int(const array::Numpy& np, unsigned type, PyObject* number) {
  constexpr int kBits = 8;
  const int bits = static_cast<int>(np.item_size.at(type)) * kBits;
  if (type % 2 == 0) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(number);
    return PyErr_Occurred() == nullptr && value <= ~0ULL >> (64 - bits);
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  return overflow == 0 && value >> (bits - 1) == (value < 0 ? -1 : 0);
}

// Calls of NumPy's types of numbers, such as numpy.float32(x), with a number that the type holds: NumPy reports
// nothing.
PyObject* converted(PyObject* callable, PyObject* number) {
  const array::Numpy* np = array::met_numpy();
  const auto is_type = [&](unsigned type) {
    return reinterpret_cast<PyTypeObject*>(callable) == np->scalar_type.at(type);
  };
  bool is_held = false;
  if (np == nullptr || may_collect()) {
    return nullptr;
  }
  if (PyLong_CheckExact(number)) {
    for (unsigned type = array::kInt8; type <= array::kULongLong; ++type) {
      is_held = is_held || (is_type(type) && holds_int(*np, type, number));
    }
    PyErr_Clear();
  }
  is_held = is_held || (is_type(array::kFloat) && moderate(number)) ||
            (is_type(array::kDouble) && (PyFloat_CheckExact(number) || moderate(number)));
  return is_held ? PyObject_CallOneArg(callable, number) : nullptr;
}

// Whether the known function supports these operands. It makes no containers then, but a range.
bool takes_all(Known known, Operands operands) {
  constexpr std::size_t kMost = 3;
  std::array<const PyTypeObject*, kMost> types{};
  if (operands.size() > kMost) {
    return false;
  }
  std::ranges::transform(operands, types.begin(), [](PyObject* each) { return Py_TYPE(each); });
  return takes(known, types.data(), static_cast<int>(operands.size()));
}

// The callable's two slots as on the stack, then the arguments.
PyObject* call_result(const Step& step, Operands slots) {
  constexpr std::size_t kCallable = 2;
  if (PyObject* made = numpy_call_result(step, slots)) {
    return made;
  }
  if (step.object != nullptr && step.object != Py_None) {
    return nullptr;
  }
  if (slots[0] != nullptr && slots[1] != nullptr) {
    return view_result(slots);
  }
  if (slots[0] == nullptr && PyType_Check(slots[1]) && slots.size() == kCallable + 1) {
    if (PyObject* number = converted(slots[1], slots[kCallable])) {
      return number;
    }
  }
  PyObject* callable = slots[0] == nullptr ? slots[1] : nullptr;
  if (callable != nullptr && slots.size() == kCallable + 1 && known_function(callable) == Known::kLength) {
    return length_result(slots[kCallable]);
  }
  if (callable != nullptr && takes_all(known_function(callable), slots.subspan(kCallable))) {
    return PyObject_Vectorcall(callable, slots.data() + kCallable, slots.size() - kCallable, nullptr);
  }
  const bool is_of_numbers = callable != nullptr && std::ranges::all_of(slots.subspan(kCallable), [&](PyObject* each) {
                               return cpython::is_exact_number(each) || (is_numpy_float(each) && is_of_math(callable));
                             });
  if (!is_of_numbers ||
      !(is_of_math(callable) || call_runs_no_user_code(slots.data(), static_cast<int>(slots.size()), &step.called))) {
    return nullptr;
  }
  return call(slots.data(), static_cast<Py_ssize_t>(slots.size()), nullptr);
}

PyObject* known_call_result(const Step& step, Operands arguments) {
  if (arguments.size() == 1 && known_function(step.object) == Known::kLength) {
    return length_result(arguments[0]);
  }
  const bool are_numbers = std::ranges::all_of(
      arguments, [](PyObject* each) { return cpython::is_exact_number(each) || is_numpy_float(each); });
  return are_numbers ? PyObject_Vectorcall(step.object, arguments.data(), arguments.size(), nullptr) : nullptr;
}

// --- all

PyObject* result_of(const Step& step, Operands operands, int number) {
  switch (step.op) {
    case Op::binary_op:
    case Op::int_binary:
    case Op::float_binary:
    case Op::float64_binary:
    case Op::int64_binary:
      return binary_result(step.immediate, operands[0], operands[1]);
    case Op::compare_op:
    case Op::int_compare:
    case Op::float_compare:
    case Op::scalar_compare:
      return compare_result(step.immediate, operands[0], operands[1]);
    case Op::unary_op:
      return unary_result(static_cast<UnaryOperator>(step.immediate), operands[0]);
    case Op::to_bool:
    case Op::number_truth:
      return truth_result(operands[0], false);
    case Op::unary_not:
    case Op::bool_not:
      return truth_result(operands[0], true);
    case Op::is_op:
      return Py_NewRef((operands[0] == operands[1]) != (step.immediate != 0) ? Py_True : Py_False);
    case Op::binary_subscr:
    case Op::sequence_item:
    case Op::array_item:
      return item_result(operands[0], operands[1]);
    case Op::tuple_item:
      return PyTuple_CheckExact(operands[0]) && step.immediate < PyTuple_GET_SIZE(operands[0])
                 ? Py_NewRef(PyTuple_GET_ITEM(operands[0], step.immediate))
                 : nullptr;
    case Op::unpack_sequence:
      return unpacked(operands[0], step.immediate, number);
    case Op::function_default:
      return default_of(operands[0], -step.immediate);
    case Op::build_tuple:
      return tuple_of(operands);
    case Op::build_list:
      return list_of(operands);
    case Op::new_instance:
      return instance_of(operands[0]);
    case Op::cell_get:
      return PyCell_Check(operands[0]) ? Py_XNewRef(PyCell_GET(operands[0])) : nullptr;
    case Op::closure_cell: {
      PyObject* closure = PyFunction_Check(operands[0]) ? PyFunction_GET_CLOSURE(operands[0]) : nullptr;
      return closure != nullptr && step.immediate < PyTuple_GET_SIZE(closure)
                 ? Py_NewRef(PyTuple_GET_ITEM(closure, step.immediate))
                 : nullptr;
    }
    case Op::load_attr:
      return attribute_result(step, operands[0]);
    case Op::load_method:
      return method_result(step, operands[0], number);
    case Op::call:
      return call_result(step, operands);
    case Op::array_call:
      return ufunc_result(operands);
    case Op::known_call:
      return known_call_result(step, operands);
    default:
      return nullptr;
  }
}

}  // namespace

Ref pure_result(const Step& step, std::span<PyObject* const> operands, int number) {
  constexpr std::size_t kCallable = 2;  // slots of which one may be null
  const bool is_call = step.op == Op::call || step.op == Op::array_call;
  if (std::ranges::any_of(operands.subspan(is_call ? kCallable : 0), [](PyObject* each) { return each == nullptr; })) {
    return {};
  }
  const cpython::SignalsWait wait;
  Ref result = Ref::steal(result_of(step, operands, number));
  if (!result) {
    PyErr_Clear();
  }
  return result;
}

bool reads_elements(const Step& step, std::span<PyObject* const> operands) {
  if (step.op == Op::call) {
    const array::NumpyCall* row = array::find_numpy_call(operands.data());
    return row != nullptr && array::reads_of(*row) == array::CallReads::kElements;
  }
  return (step.op == Op::binary_subscr || step.op == Op::array_item) && is_array(operands[0]);
}

}  // namespace tagalong::replay
