#include "replay/objects/eliding_calls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/ref.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/thunks.h"

namespace tagalong::replay {
namespace {

constexpr std::size_t kCallableSlots = 2;
constexpr std::size_t kMostSlots = 8;

enum class Applied : std::uint8_t { kNothing, kToArguments, kToItems };

bool is_partial(PyTypeObject* type) { return std::strcmp(type->tp_name, "functools.partial") == 0; }

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

// Iterators and partial objects written in C: their behaviour depends on the objects to which they refer.
bool is_written_in_c(PyTypeObject* type) {
  if (type->tp_traverse == nullptr || type == &PyGen_Type ||
      (type->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE)) == Py_TPFLAGS_HEAPTYPE) {
    return false;
  }
  return type->tp_iternext != nullptr || (type->tp_call != nullptr && is_partial(type));
}

// Searches the objects to which such an object refers, for a function that applies operators.
struct Search {
  int depth = 0;
  int objects_left = 32;
  bool found = false;
};

int visit(PyObject* object, void* context) {
  constexpr int kDeepest = 8;
  Search& search = *static_cast<Search*>(context);
  PyTypeObject* type = Py_TYPE(object);
  if (--search.objects_left < 0 || search.depth > kDeepest) {
    search.found = true;  // unknown, so assume the worst
  } else if (type == &PyCFunction_Type) {
    search.found = applied_by(object) != Applied::kNothing;
  } else if (is_written_in_c(type) || type == &PyTuple_Type) {
    // Without a function it adds, and there is no object that shows this.
    search.found = std::strcmp(type->tp_name, "itertools.accumulate") == 0;
    ++search.depth;
    if (!search.found) {
      type->tp_traverse(object, visit, context);
    }
    --search.depth;
  }
  return search.found ? 1 : 0;
}

// Whether the object's own C code may apply operators to its items.
bool applies_when_asked(PyObject* object) {
  if (object == nullptr || !is_written_in_c(Py_TYPE(object))) {
    return false;
  }
  Search search;
  visit(object, &search);
  return search.found;
}

// sum and math.prod accept `start` by name; the other functions accept no keywords.
bool is_start(PyObject* keywords) {
  return PyTuple_GET_SIZE(keywords) == 1 &&
         PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "start") == 0;
}

// Exact lists and tuples can be searched for arrays; the items of other iterables are not known before they are
// requested.
bool may_have_arrays(const array::Numpy& np, PyObject* object) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
    return !cpython::is_exact_number(object) && !PyUnicode_CheckExact(object) && !PyRange_Check(object) &&
           !PyCallable_Check(object);
  }
  PyObject** items = PySequence_Fast_ITEMS(object);
  return std::any_of(items, items + Py_SIZE(object), [&](PyObject* item) { return Py_TYPE(item) == np.array_type; });
}

}  // namespace

bool may_elide(std::span<PyObject* const> slots, PyObject* keywords) {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || !np->elides || slots.size() > kMostSlots || slots[0] != nullptr ||
      !(keywords == nullptr || is_start(keywords))) {
    return false;
  }
  if (std::ranges::any_of(slots, applies_when_asked)) {
    return true;
  }
  const Applied applied = applied_by(slots[1]);
  if (applied == Applied::kNothing) {
    return false;
  }
  const auto arguments = slots.subspan(kCallableSlots);
  return std::ranges::any_of(arguments, [&](PyObject* argument) {
    return applied == Applied::kToItems ? may_have_arrays(*np, argument) : Py_TYPE(argument) == np->array_type;
  });
}

bool may_elide_unpacked(PyObject* callable, PyObject* arguments) {
  const array::Numpy* np = array::met_numpy();
  return np != nullptr && np->elides &&
         (applied_by(callable) != Applied::kNothing || applies_when_asked(callable) ||
          std::any_of(&PyTuple_GET_ITEM(arguments, 0), &PyTuple_GET_ITEM(arguments, 0) + PyTuple_GET_SIZE(arguments),
                      applies_when_asked));
}

bool may_elide_next(PyObject* iterator) {
  const array::Numpy* np = array::met_numpy();
  return np != nullptr && np->elides && applies_when_asked(iterator);
}

PyObject* next_with_elision(PyFunctionObject* function, PyObject* iterator) {
  // FOR_ITER asks for the item, because NumPy looks at most ten C frames up the stack, and a call of the builtin
  // `next` would add two.
  static PyObject* const end = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  static const auto* const code = new CodeRef([] {
    const Ref constants = end == nullptr ? Ref() : Ref::steal(PyTuple_Pack(1, end));
    return constants ? cpython::make_namespace_thunk(cpython::next_item(), nullptr, constants.get()) : CodeRef();
  }());
  if (!*code) {
    return PyErr_NoMemory();
  }
  Ref item = Ref::steal(cpython::run_namespace_thunk(code->get(), function, nullptr, &iterator, 1));
  return item.get() == end ? nullptr : item.release();
}

PyCodeObject* eliding_caller(std::size_t slots, PyObject* keywords) {
  using Callers = std::array<CodeRef, kMostSlots + 1>;
  static auto* const callers = new std::array<Callers, 2>;  // one for each number of arguments; kept for the process
  CodeRef& caller = callers->at(keywords == nullptr ? 0 : 1).at(slots);
  if (!caller) {
    const int arguments = static_cast<int>(slots - kCallableSlots);
    const Ref constants = keywords == nullptr ? Ref() : Ref::steal(PyTuple_Pack(1, keywords));
    if (keywords != nullptr && !constants) {
      return nullptr;
    }
    const std::vector<cpython::Instruction> code = cpython::call_operands(arguments, keywords != nullptr);
    caller = cpython::make_namespace_thunk(code, nullptr, constants.get());
  }
  return caller.get();
}

}  // namespace tagalong::replay
