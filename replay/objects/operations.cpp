#include "replay/objects/operations.h"

#include <opcode.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "replay/objects/known_functions.h"
#include "replay/objects/unboxed.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/frames.h"
#include "version/calls.h"
#include "version/objects.h"

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

bool may_take_long(int argument, PyObject* left, PyObject* right) {
  constexpr Py_ssize_t kDigits = 16;
  constexpr digit kPower = 64;
  const auto is_long = [](PyObject* number) {
    return PyLong_CheckExact(number) && std::abs(version::signed_digits(number)) > kDigits;
  };
  const bool is_high = argument % NB_INPLACE_ADD == NB_POWER && PyLong_CheckExact(right) &&
                       version::signed_digits(right) > 0 &&
                       (version::signed_digits(right) > 1 || version::digits_of(right)[0] > kPower);
  return is_long(left) || is_long(right) || is_high;
}

PyObject* unary_operation(UnaryOperator op, PyObject* operand) {
  switch (op) {
    case UnaryOperator::kPositive:
      return PyNumber_Positive(operand);
    case UnaryOperator::kNegative:
      return PyNumber_Negative(operand);
    default:
      return PyNumber_Invert(operand);
  }
}

PyObject* compare(int argument, PyObject* left, PyObject* right) { return PyObject_RichCompare(left, right, argument); }

bool load_method(PyObject* object, PyObject* name, PyObject** results) {
  PyObject* method = nullptr;
  const int unbound = version::get_method(object, name, &method);
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

namespace {

// The general call of a C function counts one level of recursion; for some functions the interpreter has specialised
// instructions that do not.
bool counts_no_level(PyObject* callable, Py_ssize_t positional, PyObject* keywords) {
  constexpr int kKinds = METH_VARARGS | METH_FASTCALL | METH_NOARGS | METH_O | METH_KEYWORDS;
  const PyMethodDef* method = nullptr;
  if (Py_TYPE(callable) == &PyCFunction_Type) {
    method = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  } else if (Py_TYPE(callable) == &PyMethodDescr_Type && keywords == nullptr) {
    method = reinterpret_cast<PyMethodDescrObject*>(callable)->d_method;
  } else {
    return callable == reinterpret_cast<PyObject*>(&PyUnicode_Type) && positional == 1 && keywords == nullptr;
  }
  const int kind = method->ml_flags & kKinds;
  return kind == (METH_FASTCALL | METH_KEYWORDS) || (kind == METH_FASTCALL && keywords == nullptr) ||
         known_function(callable) == Known::kLength;
}

}  // namespace

PyObject* call(PyObject* const* operands, Py_ssize_t count, PyObject* keywords) {
  const bool is_method = operands[0] != nullptr;
  PyObject* callable = is_method ? operands[0] : operands[1];
  PyObject* const* arguments = is_method ? operands + 1 : operands + 2;
  Py_ssize_t positional = count - (is_method ? 1 : 2);
  if (keywords != nullptr) {
    positional -= PyTuple_GET_SIZE(keywords);
  }
  const int levels = version::kLimitCountsCalls && counts_no_level(callable, positional, keywords) ? 1 : 0;
  PyThreadState* thread = cpython::thread_state();
  cpython::leave_recursion(thread, levels);
  // PY_VECTORCALL_ARGUMENTS_OFFSET: the slot before the first argument may be overwritten; it holds the callable or the
  // null before it.
  PyObject* result = PyObject_Vectorcall(
      callable, arguments, static_cast<std::size_t>(positional) | PY_VECTORCALL_ARGUMENTS_OFFSET, keywords);
  cpython::enter_recursion(thread, levels);
  return result;
}

namespace {

// Flags of MAKE_FUNCTION, in the order of their values.
enum FunctionFlag : std::uint8_t { kDefaults = 0x01, kKeywordDefaults = 0x02, kAnnotations = 0x04, kClosure = 0x08 };

}  // namespace

void set_function_attribute(int flag, PyObject* function, PyObject* value) {
  auto* made = reinterpret_cast<PyFunctionObject*>(function);
  PyObject** const place = flag == kDefaults          ? &made->func_defaults
                           : flag == kKeywordDefaults ? &made->func_kwdefaults
                           : flag == kAnnotations     ? &made->func_annotations
                                                      : &made->func_closure;
  *place = Py_NewRef(value);
}

PyObject* make_function(int flags, PyObject* const* operands) {
  auto* maker = reinterpret_cast<PyFunctionObject*>(operands[0]);
  PyObject* function = PyFunction_New(cpython::code_to_make(operands[1]), maker->func_globals);
  if (function == nullptr) {
    return nullptr;
  }
  PyObject* const* value = operands + 2;
  for (const int flag : {kDefaults, kKeywordDefaults, kAnnotations, kClosure}) {
    if ((flags & flag) != 0) {
      set_function_attribute(flag, function, *value++);
    }
  }
  return function;
}

PyObject* next_item(PyObject* iterator) {
  PyObject* item = Py_TYPE(iterator)->tp_iternext(iterator);
  if (item == nullptr && PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    PyErr_Clear();
  }
  return item;
}

PyObject* convert_value(int flags, PyObject* value) {
  switch (flags & FVC_MASK) {
    case FVC_STR:
      return PyObject_Str(value);
    case FVC_REPR:
      return PyObject_Repr(value);
    case FVC_ASCII:
      return PyObject_ASCII(value);
    default:
      return Py_NewRef(value);
  }
}

PyObject* format_value(int flags, PyObject* value, PyObject* format) {
  const Ref converted = Ref::steal(convert_value(flags, value));
  if (!converted) {
    return nullptr;
  }
  if (PyUnicode_CheckExact(converted.get()) && format == nullptr) {
    return Py_NewRef(converted.get());
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
  if (PyLong_CheckExact(value)) {
    return version::signed_digits(value) != 0;
  }
  const Unboxed kind = unboxed_of(Py_TYPE(value));
  UnboxedNumber number;
  static_cast<void>(unbox(value, kind, &number));
  return is_float(kind) ? number.d != 0.0 : number.i != 0;
}

bool accessor_is(PyObject* object, PyObject* name, int part, PyObject* function) {
  static constexpr std::array<const char*, 3> kNames = {"fget", "fset", "fdel"};
  static std::array<PyObject*, 3> names{};
  PyObject* property = object == nullptr ? nullptr : _PyType_Lookup(Py_TYPE(object), name);
  if (property == nullptr || Py_TYPE(property) != &PyProperty_Type) {
    return false;
  }
  const auto place = static_cast<std::size_t>(part);
  PyObject* text = cpython::once(names.at(place), [=] { return PyUnicode_InternFromString(kNames.at(place)); });
  const Ref member = text == nullptr ? Ref() : Ref::steal(PyObject_GetAttr(property, text));
  if (!member) {
    PyErr_Clear();
  }
  return member.get() == function;
}

bool has_keywords(PyObject* object, PyObject* names) {
  if (object == nullptr || !PyDict_CheckExact(object) || PyDict_GET_SIZE(object) != PyTuple_GET_SIZE(names)) {
    return false;
  }
  Py_ssize_t place = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t index = 0; PyDict_Next(object, &place, &key, &value) != 0; ++index) {
    PyObject* name = PyTuple_GET_ITEM(names, index);
    if (key != name && (!PyUnicode_CheckExact(key) || PyUnicode_Compare(key, name) != 0)) {
      return false;
    }
  }
  return true;
}

bool function_matches(PyObject* value, PyObject* code) {
  if (value == nullptr || !PyFunction_Check(value)) {
    return false;
  }
  PyObject* own = PyFunction_GET_CODE(value);
  return own == code || reinterpret_cast<PyObject*>(cpython::original_of(reinterpret_cast<PyCodeObject*>(own))) == code;
}

}  // namespace tagalong::replay
