#include "replay/operations.h"

#include <opcode.h>

#include <array>
#include <cmath>

#include "rewriter/interp/code_link.h"

namespace tagalong::replay {
namespace {

PyObject* power(PyObject* left, PyObject* right) { return PyNumber_Power(left, right, Py_None); }
PyObject* in_place_power(PyObject* left, PyObject* right) { return PyNumber_InPlacePower(left, right, Py_None); }

using BinaryFunction = PyObject* (*)(PyObject*, PyObject*);

// In the order of CPython's NB_ constants.
constexpr std::array<BinaryFunction, NB_INPLACE_XOR + 1> kBinary = {
    PyNumber_Add,
    PyNumber_And,
    PyNumber_FloorDivide,
    PyNumber_Lshift,
    PyNumber_MatrixMultiply,
    PyNumber_Multiply,
    PyNumber_Remainder,
    PyNumber_Or,
    power,
    PyNumber_Rshift,
    PyNumber_Subtract,
    PyNumber_TrueDivide,
    PyNumber_Xor,
    PyNumber_InPlaceAdd,
    PyNumber_InPlaceAnd,
    PyNumber_InPlaceFloorDivide,
    PyNumber_InPlaceLshift,
    PyNumber_InPlaceMatrixMultiply,
    PyNumber_InPlaceMultiply,
    PyNumber_InPlaceRemainder,
    PyNumber_InPlaceOr,
    in_place_power,
    PyNumber_InPlaceRshift,
    PyNumber_InPlaceSubtract,
    PyNumber_InPlaceTrueDivide,
    PyNumber_InPlaceXor,
};

}  // namespace

PyObject* binary_operation(int argument, PyObject* left, PyObject* right) {
  return kBinary.at(static_cast<std::size_t>(argument))(left, right);
}

PyObject* unary_operation(int opcode, PyObject* operand) {
  switch (opcode) {
    case UNARY_POSITIVE:
      return PyNumber_Positive(operand);
    case UNARY_NEGATIVE:
      return PyNumber_Negative(operand);
    default:
      return PyNumber_Invert(operand);
  }
}

PyObject* compare(int argument, PyObject* left, PyObject* right) { return PyObject_RichCompare(left, right, argument); }

bool load_method(PyObject* object, PyObject* name, PyObject** results) {
  PyObject* method = nullptr;
  const int unbound = _PyObject_GetMethod(object, name, &method);
  if (method == nullptr) {
    return false;
  }
  if (unbound != 0) {
    results[0] = method;
    results[1] = Py_NewRef(object);
  } else {
    results[0] = nullptr;
    results[1] = method;
  }
  return true;
}

PyObject* call(PyObject* const* operands, Py_ssize_t count, PyObject* keywords) {
  const bool is_method = operands[0] != nullptr;
  PyObject* callable = is_method ? operands[0] : operands[1];
  PyObject* const* arguments = is_method ? operands + 1 : operands + 2;
  Py_ssize_t positional = count - (is_method ? 1 : 2);
  if (keywords != nullptr) {
    positional -= PyTuple_GET_SIZE(keywords);
  }
  // The slot before the first argument is ours to lend: it holds the callable or the null before it.
  return PyObject_Vectorcall(callable, arguments, static_cast<std::size_t>(positional) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                             keywords);
}

PyObject* make_function(int flags, PyObject* const* operands) {
  constexpr int kDefaults = 0x01;
  constexpr int kKeywordDefaults = 0x02;
  constexpr int kAnnotations = 0x04;
  constexpr int kClosure = 0x08;
  auto* maker = reinterpret_cast<PyFunctionObject*>(operands[0]);
  PyObject* object = PyFunction_New(operands[1], maker->func_globals);
  if (object == nullptr) {
    return nullptr;
  }
  auto* function = reinterpret_cast<PyFunctionObject*>(object);
  PyObject* const* extra = operands + 2;
  if ((flags & kDefaults) != 0) {
    function->func_defaults = Py_NewRef(*extra++);
  }
  if ((flags & kKeywordDefaults) != 0) {
    function->func_kwdefaults = Py_NewRef(*extra++);
  }
  if ((flags & kAnnotations) != 0) {
    function->func_annotations = Py_NewRef(*extra++);
  }
  if ((flags & kClosure) != 0) {
    function->func_closure = Py_NewRef(*extra);
  }
  return object;
}

PyObject* next_item(PyObject* iterator) {
  PyObject* item = Py_TYPE(iterator)->tp_iternext(iterator);
  if (item == nullptr && PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    PyErr_Clear();
  }
  return item;
}

PyObject* format_value(int flags, PyObject* value, PyObject* format) {
  Ref converted = Ref::create(value);
  switch (flags & FVC_MASK) {
    case FVC_STR:
      converted = Ref::steal(PyObject_Str(value));
      break;
    case FVC_REPR:
      converted = Ref::steal(PyObject_Repr(value));
      break;
    case FVC_ASCII:
      converted = Ref::steal(PyObject_ASCII(value));
      break;
    default:
      break;
  }
  if (!converted) {
    return nullptr;
  }
  if (PyUnicode_CheckExact(converted.get()) && format == nullptr) {
    return converted.release();
  }
  return PyObject_Format(converted.get(), format);
}

PyObject* build_slice(PyObject* const* operands, int count) {
  constexpr int kWithStep = 3;
  return PySlice_New(operands[0], operands[1], count == kWithStep ? operands[2] : nullptr);
}

PyObject* int_compare(int argument, PyObject* left, PyObject* right) {
  return PyLong_Type.tp_richcompare(left, right, argument);
}

PyObject* float_compare(int argument, PyObject* left, PyObject* right) {
  if (PyFloat_CheckExact(left) && PyFloat_CheckExact(right)) {
    const double x = PyFloat_AS_DOUBLE(left);
    const double y = PyFloat_AS_DOUBLE(right);
    Py_RETURN_RICHCOMPARE(x, y, argument);
  }
  return PyObject_RichCompare(left, right, argument);
}

PyObject* float_binary(int argument, PyObject* left, PyObject* right) {
  if (PyFloat_CheckExact(left) && PyFloat_CheckExact(right)) {
    const double x = PyFloat_AS_DOUBLE(left);
    const double y = PyFloat_AS_DOUBLE(right);
    switch (argument) {
      case NB_ADD:
      case NB_INPLACE_ADD:
        return PyFloat_FromDouble(x + y);
      case NB_SUBTRACT:
      case NB_INPLACE_SUBTRACT:
        return PyFloat_FromDouble(x - y);
      case NB_MULTIPLY:
      case NB_INPLACE_MULTIPLY:
        return PyFloat_FromDouble(x * y);
      default:
        break;
    }
  }
  return binary_operation(argument, left, right);
}

bool number_truth(PyObject* value) {
  if (value == Py_True) {
    return true;
  }
  if (value == Py_False || value == Py_None) {
    return false;
  }
  if (PyFloat_CheckExact(value)) {
    return PyFloat_AS_DOUBLE(value) != 0.0;
  }
  if (PyUnicode_CheckExact(value)) {
    return PyUnicode_GET_LENGTH(value) != 0;
  }
  return Py_SIZE(value) != 0;
}

namespace {

struct OperatorNames {
  const char* symbol;
  const char* method;
  const char* reflected;
  const char* in_place;
};

// In the order of CPython's NB_ constants.
constexpr int kOperators = NB_INPLACE_ADD;
constexpr std::array<OperatorNames, kOperators> kOperatorNames = {{
    {"+", "__add__", "__radd__", "__iadd__"},
    {"&", "__and__", "__rand__", "__iand__"},
    {"//", "__floordiv__", "__rfloordiv__", "__ifloordiv__"},
    {"<<", "__lshift__", "__rlshift__", "__ilshift__"},
    {"@", "__matmul__", "__rmatmul__", "__imatmul__"},
    {"*", "__mul__", "__rmul__", "__imul__"},
    {"%", "__mod__", "__rmod__", "__imod__"},
    {"|", "__or__", "__ror__", "__ior__"},
    {"** or pow()", "__pow__", "__rpow__", "__ipow__"},
    {">>", "__rshift__", "__rrshift__", "__irshift__"},
    {"-", "__sub__", "__rsub__", "__isub__"},
    {"/", "__truediv__", "__rtruediv__", "__itruediv__"},
    {"^", "__xor__", "__rxor__", "__ixor__"},
}};

struct ComparisonNames {
  const char* symbol;
  const char* method;
  int swapped;
};

constexpr std::array<ComparisonNames, Py_GE + 1> kComparisonNames = {{
    {"<", "__lt__", Py_GT},
    {"<=", "__le__", Py_GE},
    {"==", "__eq__", Py_EQ},
    {"!=", "__ne__", Py_NE},
    {">", "__gt__", Py_LT},
    {">=", "__ge__", Py_LE},
}};

constexpr int kNumberShift = 8;

// The answer of one operand's special method for the other; NotImplemented if it has none.
PyObject* ask(PyObject* object, const char* method, PyObject* other) {
  const Ref name = Ref::steal(PyUnicode_InternFromString(method));
  if (!name) {
    return nullptr;
  }
  const Ref attribute = Ref::create(_PyType_Lookup(Py_TYPE(object), name.get()));
  if (!attribute) {
    return Py_NewRef(Py_NotImplemented);
  }
  descrgetfunc bind = Py_TYPE(attribute.get())->tp_descr_get;
  const Ref bound = bind == nullptr
                        ? attribute
                        : Ref::steal(bind(attribute.get(), object, reinterpret_cast<PyObject*>(Py_TYPE(object))));
  return bound ? PyObject_CallOneArg(bound.get(), other) : nullptr;
}

PyObject* finish_comparison(int argument, PyObject* left, PyObject* right) {
  const ComparisonNames& names = kComparisonNames.at(static_cast<std::size_t>(argument));
  richcmpfunc compare = Py_TYPE(right)->tp_richcompare;
  Ref answer = Ref::create(Py_NotImplemented);
  if (compare != nullptr) {
    answer = Ref::steal(compare(right, left, names.swapped));
  }
  if (!answer || answer.get() != Py_NotImplemented) {
    return answer.release();
  }
  if (argument == Py_EQ || argument == Py_NE) {
    return Py_NewRef((left == right) == (argument == Py_EQ) ? Py_True : Py_False);
  }
  PyErr_Format(PyExc_TypeError, "'%s' not supported between instances of '%.100s' and '%.100s'", names.symbol,
               Py_TYPE(left)->tp_name, Py_TYPE(right)->tp_name);
  return nullptr;
}

}  // namespace

int operator_number(OperatorKind kind, int argument) { return (static_cast<int>(kind) << kNumberShift) | argument; }

const char* operator_method(OperatorKind kind, int argument) {
  if (kind == OperatorKind::kCompare) {
    return kComparisonNames.at(static_cast<std::size_t>(argument)).method;
  }
  const bool is_in_place = argument >= NB_INPLACE_ADD;
  const OperatorNames& names = kOperatorNames.at(static_cast<std::size_t>(argument % kOperators));
  if (kind == OperatorKind::kReflected) {
    return names.reflected;
  }
  return is_in_place ? names.in_place : names.method;
}

PyObject* finish_operator(int operation, PyObject* left, PyObject* right) {
  const auto kind = static_cast<OperatorKind>(operation >> kNumberShift);
  const int argument = operation & ((1 << kNumberShift) - 1);
  if (kind == OperatorKind::kCompare) {
    return finish_comparison(argument, left, right);
  }
  const bool is_in_place = argument >= NB_INPLACE_ADD;
  const OperatorNames& names = kOperatorNames.at(static_cast<std::size_t>(argument % kOperators));
  Ref answer = Ref::create(Py_NotImplemented);
  // The reflected method of another type; the same type has been asked.
  if (kind == OperatorKind::kBinary && Py_TYPE(left) != Py_TYPE(right)) {
    answer = Ref::steal(ask(right, names.reflected, left));
  }
  if (!answer || answer.get() != Py_NotImplemented) {
    return answer.release();
  }
  PyErr_Format(PyExc_TypeError, "unsupported operand type(s) for %s%s: '%.100s' and '%.100s'",
               is_in_place && argument % kOperators == NB_POWER ? "**" : names.symbol, is_in_place ? "=" : "",
               Py_TYPE(left)->tp_name, Py_TYPE(right)->tp_name);
  return nullptr;
}

bool accessor_is(PyObject* object, PyObject* name, bool sets, PyObject* function) {
  static PyObject* const getter = PyUnicode_InternFromString("fget");
  static PyObject* const setter = PyUnicode_InternFromString("fset");
  PyObject* property = object == nullptr ? nullptr : _PyType_Lookup(Py_TYPE(object), name);
  if (property == nullptr || Py_TYPE(property) != &PyProperty_Type) {
    return false;
  }
  const Ref member = Ref::steal(PyObject_GetAttr(property, sets ? setter : getter));
  if (!member) {
    PyErr_Clear();
  }
  return member.get() == function;
}

bool function_matches(PyObject* value, PyObject* code) {
  if (value == nullptr || !PyFunction_Check(value)) {
    return false;
  }
  PyObject* own = PyFunction_GET_CODE(value);
  return own == code || reinterpret_cast<PyObject*>(interp::original_of(reinterpret_cast<PyCodeObject*>(own))) == code;
}

}  // namespace tagalong::replay
