#include "replay/arrays/calls/numpy_calls.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>

#include "replay/arrays/calls/call.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "rewriter/base/dicts.h"
#include "version/calls.h"

namespace tagalong::array {

LoopTally direct_calls;

namespace {

enum class Home : std::uint8_t { kFunction, kMethod, kPlain };
using enum Home;

struct Row {
  Home home;
  const char* name;
  std::string_view parameters;
  CallReads reads;
  CallFunction run;
};
constexpr Row kRows[] = {
#define TAGALONG_NUMPY_CALL(home, name, parameters, reads, run) {home, name, parameters, CallReads::reads, run},
#include "replay/arrays/calls/numpy_calls.def"
};

// By callable, which is kept forever; used under the GIL.
using Table = std::unordered_map<PyObject*, NumpyCall>;

PyObject* method_named(const Numpy& np, const char* name) {
  PyObject* method = item_of(np.array_type->tp_dict, name);
  return method != nullptr && Py_TYPE(method) == &PyMethodDescr_Type ? method : nullptr;
}

// A function of NumPy that is written in C and asks no argument for __array_function__ of its own.
Ref builtin_named(const Numpy& np, const char* name) {
  Ref function = Ref::steal(PyObject_GetAttrString(np.umath, name));
  PyErr_Clear();
  const bool is_own = function && PyCFunction_CheckExact(function.get()) &&
                      std::strcmp(reinterpret_cast<PyCFunctionObject*>(function.get())->m_ml->ml_name, name) == 0;
  return is_own ? std::move(function) : Ref();
}

// A Python function that NumPy's module defines under this name.
Ref plain_function(const char* name) {
  for (const char* path : {"numpy._core.numeric", "numpy.core.numeric"}) {
    PyObject* module = imported_module(path);
    PyObject* found = module == nullptr ? nullptr : item_of(PyModule_GetDict(module), name);
    const bool is_own =
        found != nullptr && PyFunction_Check(found) && PyFunction_GET_GLOBALS(found) == PyModule_GetDict(module) &&
        PyUnicode_CompareWithASCIIString(reinterpret_cast<PyFunctionObject*>(found)->func_qualname, name) == 0;
    if (is_own) {
      return Ref::create(found);
    }
  }
  return {};
}

// Empty without memory: then there is no row for the function.
std::vector<PyObject*> interned(std::string_view names) {
  std::vector<PyObject*> result;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    PyObject* name = PyUnicode_InternFromString(std::string(names.substr(0, end)).c_str());
    if (name == nullptr) {
      PyErr_Clear();
      return {};
    }
    result.push_back(name);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return result;
}

// Whether NumPy's function calls the method of the same name.
bool calls_method(CallFunction run) { return run == forward_to_method || run == forward_one_width_to_method; }

// Where the program has replaced a function before the table is made, there is no row for it.
void add(const Numpy& np, const Row& row, Table* table) {
  NumpyCall call{.run = row.run, .reads = row.reads, .is_method = row.home == kMethod};
  Ref callable;
  if (row.home == kMethod) {
    callable = Ref::create(method_named(np, row.name));
    call.target = callable.get();
  } else if (row.home == kPlain) {
    callable = plain_function(row.name);
    if (callable) {
      const auto* function = reinterpret_cast<PyFunctionObject*>(callable.get());
      call.code = Py_NewRef(function->func_code);
      call.defaults = Py_XNewRef(function->func_defaults);
    }
  } else if (Ref found = dispatcher(row.name)) {
    const Ref own = Ref::steal(PyObject_GetAttrString(found.get(), "_implementation"));
    PyErr_Clear();
    call.target = calls_method(row.run)                      ? method_named(np, row.name)
                  : own && PyCFunction_CheckExact(own.get()) ? own.get()  // the dispatcher keeps it alive
                                                             : nullptr;
    callable = std::move(found);
  } else {
    callable = builtin_named(np, row.name);
    call.target = callable.get();
  }
  call.parameters = interned(row.parameters);
  const bool needs_target = calls_method(row.run) || row.run == forward || row.run == forward_one_width ||
                            row.run == forward_shape || row.run == forward_where;
  if (callable && (call.target != nullptr || !needs_target) && !call.parameters.empty()) {
    table->emplace(callable.release(), std::move(call));
  }
  PyErr_Clear();
}

const NumpyCall* row_of(const Numpy& np, PyObject* callable) {
  static const Table* const table = [&np] {
    auto* made = new Table();
    for (const Row& row : kRows) {
      add(np, row, made);
    }
    return made;
  }();
  const auto found = table->find(callable);
  return found == table->end() ? nullptr : &found->second;
}

// Sorts the arguments by parameter. False: there is another argument, or one is given twice.
bool bind(const NumpyCall& row, Call* call) {
  const Py_ssize_t named = call->names == nullptr ? 0 : PyTuple_GET_SIZE(call->names);
  const Py_ssize_t placed = call->count - named;
  if (placed < 1 || placed > static_cast<Py_ssize_t>(row.parameters.size())) {
    return false;  // the first argument is given by its place
  }
  std::copy_n(call->arguments, placed, call->parameters.begin());
  for (Py_ssize_t index = 0; index < named; ++index) {
    PyObject* name = PyTuple_GET_ITEM(call->names, index);  // interned by the compiler
    const auto parameter = std::ranges::find(row.parameters, name);
    const auto place = static_cast<std::size_t>(parameter - row.parameters.begin());
    if (parameter == row.parameters.end() || call->parameters.at(place) != nullptr) {
      return false;
    }
    call->parameters.at(place) = call->arguments[placed + index];
  }
  return true;
}

bool is_unchanged(const NumpyCall& row, PyObject* callable) {
  const auto* function = reinterpret_cast<PyFunctionObject*>(callable);
  return function->func_code == row.code && function->func_defaults == row.defaults &&
         function->vectorcall == version::function_vectorcall();
}

}  // namespace

const NumpyCall* find_numpy_call(PyObject* const* slots) {
  const Numpy* np = met_numpy();
  const bool is_method = slots[0] != nullptr;
  PyObject* callable = slots[is_method ? 0 : 1];
  if (np == nullptr || PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  const NumpyCall* row = row_of(*np, callable);
  const bool fits =
      row != nullptr && row->is_method == is_method && (row->code == nullptr || is_unchanged(*row, callable));
  return fits ? row : nullptr;
}

CallReads reads_of(const NumpyCall& row) { return row.reads; }

PyObject* call_directly(const NumpyCall& row, PyObject* const* slots, int count, PyObject* names) {
  constexpr int kCallableSlots = 2;
  const int first = row.is_method ? 1 : kCallableSlots;
  Call call{
      .np = *met_numpy(), .target = row.target, .arguments = slots + first, .count = count - first, .names = names};
  PyObject* result = bind(row, &call) ? row.run(call) : nullptr;
  (result != nullptr ? direct_calls.computed : direct_calls.left).add();
  return result;
}

const ArrayFields* plain_array(const Numpy& np, PyObject* object) {
  constexpr int kRequiredFlags = kCContiguous | kAligned;
  return object != nullptr && is_array(classify(np, object)) &&
                 (as_array(object)->flags & kRequiredFlags) == kRequiredFlags
             ? as_array(object)
             : nullptr;
}

PyObject* new_array(const Numpy& np, unsigned type, int nd, const Extent* dims) {
  const KeptMemory kept(np, static_cast<std::size_t>(
                                std::accumulate(dims, dims + nd, Extent{np.item_size.at(type)}, std::multiplies<>())));
  PyObject* array =
      np.new_from_descr(np.array_type, Py_NewRef(np.descr.at(type)), nd, dims, nullptr, nullptr, 0, nullptr);
  return array == nullptr ? forget_error() : array;
}

bool read_int(PyObject* object, Extent least, Extent most, Extent* number) {
  int overflow = 0;
  const bool is_int = object != nullptr && PyLong_CheckExact(object);
  *number = is_int ? PyLong_AsLongAndOverflow(object, &overflow) : 0;
  return is_int && overflow == 0 && *number >= least && *number <= most;
}

bool read_axis(PyObject* object, int nd, int* axis) {
  Extent number = 0;
  const bool is_read = read_int(object, -nd, nd - 1, &number);
  *axis = static_cast<int>(number < 0 ? number + nd : number);
  return is_read;
}

PyObject* forget_error() {
  PyErr_Clear();
  return nullptr;
}

}  // namespace tagalong::array
