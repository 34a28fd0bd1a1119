#include "replay/objects/known_functions.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/objects/unboxed.h"
#include "rewriter/base/dicts.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::replay {
namespace {

// Used under the GIL; the callables are kept forever.
using Table = std::unordered_map<PyObject*, Known>;

Table& table() {
  static Table* const known = [] {
    auto* made = new Table();
    PyObject* builtins = PyEval_GetBuiltins();
    const auto add = [&](const char* name, Known which) {
      PyObject* function = PyDict_Check(builtins) ? item_of(builtins, name) : nullptr;
      // The program may have replaced the function.
      const bool is_own = function != nullptr && PyCFunction_CheckExact(function) &&
                          std::strcmp(reinterpret_cast<PyCFunctionObject*>(function)->m_ml->ml_name, name) == 0;
      if (is_own) {
        made->emplace(Py_NewRef(function), which);
      }
    };
    add("len", Known::kLength);
    add("abs", Known::kAbsolute);
    made->emplace(reinterpret_cast<PyObject*>(&PyRange_Type), Known::kRange);
    made->emplace(reinterpret_cast<PyObject*>(&PyFloat_Type), Known::kFloat);
    made->emplace(reinterpret_cast<PyObject*>(&PyLong_Type), Known::kInt);
    return made;
  }();
  return *known;
}

// The other functions of `math` for which is_of_math() is true. They are only known not to run user code.
constexpr std::array kOfMath = {
    std::pair(std::string_view("sqrt"), Known::kSqrt),   std::pair(std::string_view("sin"), Known::kSin),
    std::pair(std::string_view("cos"), Known::kCos),     std::pair(std::string_view("tan"), Known::kTan),
    std::pair(std::string_view("atan"), Known::kAtan),   std::pair(std::string_view("exp"), Known::kExp),
    std::pair(std::string_view("log"), Known::kLog),     std::pair(std::string_view("fabs"), Known::kMagnitude),
    std::pair(std::string_view("floor"), Known::kFloor), std::pair(std::string_view("ceil"), Known::kCeiling),
    std::pair(std::string_view("atan2"), Known::kNone),
};

const Known* of_math(PyObject* callable) {
  if (!PyCFunction_CheckExact(callable)) {
    return nullptr;
  }
  PyObject* module = PyCFunction_GET_SELF(callable);
  const PyModuleDef* definition = module != nullptr && PyModule_CheckExact(module) ? PyModule_GetDef(module) : nullptr;
  if (definition == nullptr || std::strcmp(definition->m_name, "math") != 0) {
    return nullptr;
  }
  const std::string_view name = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name;
  for (const auto& [own, known] : kOfMath) {
    if (own == name) {
      return &known;
    }
  }
  return nullptr;
}

bool is_sized(const PyTypeObject* type) {
  return type == &PyList_Type || type == &PyTuple_Type || type == &PyUnicode_Type || type == &PyBytes_Type ||
         type == &PyDict_Type || type == &PySet_Type || type == &PyFrozenSet_Type || type == &PyRange_Type ||
         (array::met_numpy() != nullptr && type == array::met_numpy()->array_type);
}

}  // namespace

bool is_of_math(PyObject* callable) { return of_math(callable) != nullptr; }

Known known_function(PyObject* callable) {
  const auto known = table().find(callable);
  if (known != table().end()) {
    return known->second;
  }
  const Known* of = of_math(callable);
  if (of == nullptr || *of == Known::kNone) {
    return Known::kNone;
  }
  table().emplace(Py_NewRef(callable), *of);
  return *of;
}

bool takes(Known known, const PyTypeObject* const* types, int count) {
  switch (known) {
    case Known::kNone:
      return false;
    case Known::kRange: {
      constexpr int kMost = 3;
      bool are_ints = count >= 1 && count <= kMost;
      for (int index = 0; are_ints && index < count; ++index) {
        are_ints = types[index] == &PyLong_Type;
      }
      return are_ints;
    }
    case Known::kLength:
      return count == 1 && is_sized(types[0]);
    case Known::kFloat:
      return count == 1 && (is_int(unboxed_of(types[0])) || unboxed_of(types[0]) == Unboxed::kNumpyFloat);
    default:  // NumPy's float64 is a subclass of Python's float
      return count == 1 && is_float(unboxed_of(types[0]));
  }
}

PyTypeObject* result_of(Known known, const PyTypeObject* operand) {
  switch (known) {
    case Known::kNone:
      return nullptr;
    case Known::kRange:
      return &PyRange_Type;
    case Known::kFloor:
    case Known::kCeiling:
    case Known::kInt:
    case Known::kLength:
      return &PyLong_Type;
    case Known::kAbsolute:
      return unboxed_of(operand) == Unboxed::kNumpyFloat ? type_of(Unboxed::kNumpyFloat) : &PyFloat_Type;
    default:
      return &PyFloat_Type;
  }
}

bool call_float(Known known, double operand, double* result) noexcept {
  switch (known) {
    case Known::kMagnitude:
    case Known::kAbsolute:
      *result = std::fabs(operand);
      return true;
    case Known::kFloat:
      *result = operand;
      return true;
    case Known::kSqrt:
      *result = std::sqrt(operand);
      return operand >= 0.0;
    case Known::kLog:
      *result = operand > 0.0 ? std::log(operand) : 0.0;
      return operand > 0.0 && std::isfinite(operand);
    case Known::kSin:
      *result = std::sin(operand);
      break;
    case Known::kCos:
      *result = std::cos(operand);
      break;
    case Known::kTan:
      *result = std::tan(operand);
      break;
    case Known::kAtan:
      *result = std::atan(operand);
      break;
    case Known::kExp:
      *result = std::exp(operand);
      break;
    default:
      return false;
  }
  return std::isfinite(operand) && std::isfinite(*result);
}

bool call_int(Known known, double operand, std::int64_t* result) noexcept {
  constexpr double kLimit = 9007199254740992.0;  // 2**53: all larger floats are whole numbers
  if (!(std::fabs(operand) <= kLimit)) {
    return false;
  }
  *result = static_cast<std::int64_t>(known == Known::kFloor     ? std::floor(operand)
                                      : known == Known::kCeiling ? std::ceil(operand)
                                                                 : std::trunc(operand));
  return true;
}

bool length_of(PyObject* container, std::int64_t* result) noexcept {
  if (!is_sized(Py_TYPE(container))) {
    return false;
  }
  *result = PyObject_Size(container);
  if (*result < 0) {
    PyErr_Clear();  // a range whose length does not fit
  }
  return *result >= 0;
}

PyObject* iterate_range(std::int64_t start, std::int64_t stop) noexcept {
  std::int64_t length = 0;
  if (start < stop && __builtin_sub_overflow(stop, start, &length)) {
    return nullptr;
  }
  PyObject* made = cpython::new_range_iterator(start, length);
  if (made == nullptr) {
    PyErr_Clear();
  }
  return made;
}

}  // namespace tagalong::replay
