#include "replay/eliding_calls.h"

#include <opcode.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "replay/array/numpy_abi.h"
#include "rewriter/interp/ref.h"
#include "rewriter/interp/thunks.h"

namespace tagalong::replay {
namespace {

constexpr std::size_t kCallableSlots = 2;
constexpr std::size_t kMostSlots = 5;

enum class Applied : std::uint8_t { kNothing, kToArguments, kToItems };

Applied look_up(const PyCFunctionObject* function) {
  if (function->m_module == nullptr || !PyUnicode_CheckExact(function->m_module)) {
    return Applied::kNothing;
  }
  const char* text = PyUnicode_AsUTF8(function->m_module);
  if (text == nullptr) {
    PyErr_Clear();
    return Applied::kNothing;
  }
  const std::string_view module = text;
  const std::string_view name = function->m_ml->ml_name;
  if (module == "builtins") {
    return name == "sum" ? Applied::kToItems
                         : (name == "abs" || name == "pow" ? Applied::kToArguments : Applied::kNothing);
  }
  if (module == "_operator") {
    return Applied::kToArguments;
  }
  const bool reduces = (module == "_functools" && name == "reduce") || (module == "math" && name == "prod");
  return reduces ? Applied::kToItems : Applied::kNothing;
}

// By the definition, which is static in all modules that matter; the same address is never another of theirs.
Applied applied_by(PyObject* callable) {
  static auto* const known = new std::unordered_map<const PyMethodDef*, Applied>;
  if (!PyCFunction_CheckExact(callable)) {
    return Applied::kNothing;
  }
  const auto* function = reinterpret_cast<const PyCFunctionObject*>(callable);
  const auto found = known->find(function->m_ml);
  if (found != known->end()) {
    return found->second;
  }
  const Applied applied = look_up(function);
  if (applied != Applied::kNothing) {
    known->emplace(function->m_ml, applied);
  }
  return applied;
}

bool is_of_numbers(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object);
}

// Exact lists and tuples without arrays have none; what others have is not known before they are asked.
bool may_have_arrays(const array::Numpy& np, PyObject* object) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
    return !is_of_numbers(object) && !PyRange_Check(object) && !PyCallable_Check(object);
  }
  PyObject** items = PySequence_Fast_ITEMS(object);
  return std::any_of(items, items + Py_SIZE(object), [&](PyObject* item) { return Py_TYPE(item) == np.array_type; });
}

}  // namespace

bool may_elide(std::span<PyObject* const> slots) {
  if (slots.size() <= kCallableSlots || slots.size() > kMostSlots || slots[0] != nullptr) {
    return false;
  }
  const Applied applied = applied_by(slots[1]);
  const array::Numpy* np = applied == Applied::kNothing ? nullptr : array::met_numpy();
  if (np == nullptr || !np->elides) {
    return false;
  }
  const auto arguments = slots.subspan(kCallableSlots);
  return std::any_of(arguments.begin(), arguments.end(), [&](PyObject* argument) {
    return applied == Applied::kToItems ? may_have_arrays(*np, argument) : Py_TYPE(argument) == np->array_type;
  });
}

PyCodeObject* eliding_caller(std::size_t slots) {
  static auto* const callers = new std::array<CodeRef, kMostSlots + 1>;
  CodeRef& caller = callers->at(slots);
  if (!caller) {
    const int arguments = static_cast<int>(slots - kCallableSlots);
    caller = interp::make_namespace_thunk({{PRECALL, arguments}, {CALL, arguments}}, nullptr);
  }
  return caller.get();
}

}  // namespace tagalong::replay
