#include "replay/eliding_calls.h"

#include <opcode.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "replay/array/numpy_abi.h"
#include "rewriter/interp/exact_numbers.h"
#include "rewriter/interp/ref.h"
#include "rewriter/interp/thunks.h"

namespace tagalong::replay {
namespace {

constexpr std::size_t kCallableSlots = 2;
constexpr std::size_t kMostSlots = 5;

enum class Applied : std::uint8_t { kNothing, kToArguments, kToItems };

Applied applied_by(PyObject* callable) {
  PyObject* module =
      PyCFunction_CheckExact(callable) ? reinterpret_cast<PyCFunctionObject*>(callable)->m_module : nullptr;
  if (module == nullptr || !PyUnicode_CheckExact(module)) {
    return Applied::kNothing;
  }
  const auto is_in = [module](const char* name) { return PyUnicode_CompareWithASCIIString(module, name) == 0; };
  if (is_in("_operator")) {
    return Applied::kToArguments;
  }
  const std::string_view name = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name;
  if (name == "abs" || name == "pow") {
    return is_in("builtins") ? Applied::kToArguments : Applied::kNothing;
  }
  const bool reduces = (name == "sum" && is_in("builtins")) || (name == "reduce" && is_in("_functools")) ||
                       (name == "prod" && is_in("math"));
  return reduces ? Applied::kToItems : Applied::kNothing;
}

// What sum and math.prod take by name; the others nothing.
bool is_start(PyObject* keywords) {
  return PyTuple_GET_SIZE(keywords) == 1 &&
         PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "start") == 0;
}

// Exact lists and tuples without arrays have none; what others have is not known before they are asked.
bool may_have_arrays(const array::Numpy& np, PyObject* object) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
    return !interp::is_exact_number(object) && !PyUnicode_CheckExact(object) && !PyRange_Check(object) &&
           !PyCallable_Check(object);
  }
  PyObject** items = PySequence_Fast_ITEMS(object);
  return std::any_of(items, items + Py_SIZE(object), [&](PyObject* item) { return Py_TYPE(item) == np.array_type; });
}

}  // namespace

bool may_elide(std::span<PyObject* const> slots, PyObject* keywords) {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || !np->elides || slots.size() <= kCallableSlots || slots.size() > kMostSlots ||
      slots[0] != nullptr || !(keywords == nullptr || is_start(keywords))) {
    return false;
  }
  const Applied applied = applied_by(slots[1]);
  if (applied == Applied::kNothing) {
    return false;
  }
  const auto arguments = slots.subspan(kCallableSlots);
  return std::any_of(arguments.begin(), arguments.end(), [&](PyObject* argument) {
    return applied == Applied::kToItems ? may_have_arrays(*np, argument) : Py_TYPE(argument) == np->array_type;
  });
}

PyCodeObject* eliding_caller(std::size_t slots, PyObject* keywords) {
  using Callers = std::array<CodeRef, kMostSlots + 1>;
  static auto* const callers = new std::array<Callers, 2>;
  CodeRef& caller = callers->at(keywords == nullptr ? 0 : 1).at(slots);
  if (!caller) {
    const int arguments = static_cast<int>(slots - kCallableSlots);
    std::vector<interp::Instruction> code{{PRECALL, arguments}, {CALL, arguments}};
    Ref constants;
    if (keywords != nullptr) {
      code.insert(code.begin(), {KW_NAMES, 0});
      constants = Ref::steal(PyTuple_Pack(1, keywords));
      if (!constants) {
        return nullptr;
      }
    }
    caller = interp::make_namespace_thunk(code, nullptr, constants.get());
  }
  return caller.get();
}

}  // namespace tagalong::replay
