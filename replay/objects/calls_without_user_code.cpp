#include "replay/objects/calls_without_user_code.h"

#include <unordered_map>

#include "replay/objects/known_functions.h"
#include "rewriter/base/dicts.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "version/objects.h"

namespace tagalong::replay {
namespace {

// What the arguments must be, including the method's self.
enum class Operands : std::uint8_t {
  kNumbers,  // exact ints, floats and bools
  kSized,    // one exact container or str
  kOnList,   // self is an exact list; the other arguments are only stored
  kOfList,   // self is an exact list, the other arguments are exact numbers
  kOnText,   // exact strs and ints
};

bool is_sized(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyDict_CheckExact(object) ||
         PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
}

bool is_text(PyObject* object) { return PyUnicode_CheckExact(object) || PyLong_CheckExact(object); }

// By callable, which is kept forever; used under the GIL.
using Table = std::unordered_map<PyObject*, Operands>;

void add_builtins(Table& table) {
  PyObject* builtins = PyEval_GetBuiltins();
  const auto add = [&](const char* name, Operands operands) {
    PyObject* function = PyDict_Check(builtins) ? item_of(builtins, name) : nullptr;
    if (function != nullptr && PyCFunction_CheckExact(function)) {
      table.emplace(Py_NewRef(function), operands);
    }
  };
  add("len", Operands::kSized);
  for (const char* name : {"abs", "chr", "min", "max"}) {
    add(name, Operands::kNumbers);
  }
}

void add_methods(Table& table, PyTypeObject* type, std::initializer_list<const char*> names, Operands operands) {
  for (const char* name : names) {
    PyObject* method = item_of(version::dict_of(type), name);
    if (method != nullptr) {
      table.emplace(Py_NewRef(method), operands);
    }
  }
}

Table& table() {
  static Table* const known = [] {
    auto* made = new Table();
    add_builtins(*made);
    for (PyTypeObject* type : {&PyRange_Type, &PyFloat_Type, &PyLong_Type, &PyBool_Type}) {
      made->emplace(reinterpret_cast<PyObject*>(type), Operands::kNumbers);
    }
    add_methods(*made, &PyList_Type, {"append"}, Operands::kOnList);
    add_methods(*made, &PyList_Type, {"pop"}, Operands::kOfList);
    add_methods(*made, &PyUnicode_Type,
                {"isalpha", "isdigit", "isalnum", "isspace", "isupper", "islower", "upper", "lower", "strip", "lstrip",
                 "rstrip", "startswith", "endswith", "find", "count", "replace"},
                Operands::kOnText);
    return made;
  }();
  return *known;
}

bool are_right(Operands operands, PyObject* const* arguments, int count) {
  const auto all = [&](bool (*holds)(PyObject*), int first = 0) {
    for (int index = first; index < count; ++index) {
      if (!holds(arguments[index])) {
        return false;
      }
    }
    return true;
  };
  switch (operands) {
    case Operands::kNumbers:
      return all(cpython::is_exact_number);
    case Operands::kSized:
      return count == 1 && is_sized(arguments[0]);
    case Operands::kOnList:
      return count >= 1 && PyList_CheckExact(arguments[0]);
    case Operands::kOfList:  // an index of another type could have an `__index__`
      return count >= 1 && PyList_CheckExact(arguments[0]) && all(cpython::is_exact_number, 1);
    case Operands::kOnText:
      return count >= 1 && PyUnicode_CheckExact(arguments[0]) && all(is_text);
  }
  return false;
}

}  // namespace

bool call_runs_no_user_code(PyObject* const* slots, int count, CalledBefore* before) {
  const bool is_method = slots[0] != nullptr;
  PyObject* callable = slots[is_method ? 0 : 1];
  const int first = is_method ? 1 : 2;
  if (before->callable != callable) {
    if (PyFunction_Check(callable)) {
      return false;
    }
    auto known = table().find(callable);
    if (known == table().end() && is_of_math(callable)) {
      known = table().emplace(Py_NewRef(callable), Operands::kNumbers).first;
    }
    if (known == table().end()) {
      return false;
    }
    *before = {callable, static_cast<std::uint8_t>(known->second)};
  }
  return are_right(static_cast<Operands>(before->kind), slots + first, count - first);
}

}  // namespace tagalong::replay
