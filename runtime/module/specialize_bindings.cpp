// Specialised functions for the Python package (tagalong/_core.pyi) and, as a table in a capsule, for other extensions
// (include/tagalong/tagalong.h).
#include <boost/python.hpp>
#include <string>

#include "rewriter/base/errors.h"
#include "rewriter/code.h"
#include "runtime/module/exports.h"
#include "runtime/specialize/guards.h"
#include "runtime/specialize/specialize.h"
#include "runtime/specialize/specialized_list.h"

namespace tagalong {
namespace {

namespace py = boost::python;
using runtime::Specialized;

PyFunctionObject* function_of(PyObject* object) {
  PyObject* function = PyMethod_Check(object) ? PyMethod_GET_FUNCTION(object) : object;
  if (!PyFunction_Check(function)) {
    PyErr_Format(PyExc_TypeError, "expected a Python function, got %.200s", Py_TYPE(object)->tp_name);
    throw PythonError();
  }
  return reinterpret_cast<PyFunctionObject*>(function);
}

// C++ exceptions become Python exceptions; Python's own are propagated.
template <class Result, class Function>
Result guarded(Result failed, Function function) noexcept {
  try {
    return function();
  } catch (const PythonError&) {
    return failed;
  } catch (const rewriter::RewriteError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_SystemError, error.what());
  }
  return failed;
}

int specialize(PyObject* function, PyObject* code, PyObject* guards) {
  const Ref keep = Ref::create(function);
  return guarded(
      -1, [&] { return runtime::specialize(function_of(function), code, guards) == Specialized::kAdded ? 0 : 1; });
}

PyObject* get_specialized(PyObject* function) {
  const Ref keep = Ref::create(function);
  return guarded(static_cast<PyObject*>(nullptr),
                 [&] { return runtime::get_specialized(function_of(function)).release(); });
}

PyObject* choose(PyObject* function, PyObject* args, PyObject* kwargs) {
  const Ref keep = Ref::create(function);
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    if (!PyTuple_Check(args) || (kwargs != nullptr && !PyDict_Check(kwargs))) {
      PyErr_SetString(PyExc_TypeError, "arguments are a tuple and a dict");
      throw PythonError();
    }
    return runtime::choose_specialized(function_of(function), args, kwargs).release();
  });
}

int remove(PyObject* function, Py_ssize_t index) {
  const Ref keep = Ref::create(function);
  return guarded(-1, [&] {
    runtime::remove_specialized(function_of(function), index);
    return 0;
  });
}

py::object owned(PyObject* object) { return py::object(py::handle<>(object)); }

int py_specialize(const py::object& function, const py::object& code, const py::object& guards) {
  const int result = specialize(function.ptr(), code.ptr(), guards.ptr());
  if (result < 0) {
    py::throw_error_already_set();
  }
  return result;
}

py::object py_get_specialized(const py::object& function) { return owned(get_specialized(function.ptr())); }

py::list py_uses(const py::object& function) {
  py::list uses;
  for (const std::uint64_t each : runtime::uses_of_specialized(function_of(function.ptr()))) {
    uses.append(each);
  }
  return uses;
}

py::object py_choose(const py::object& function, const py::tuple& args, const py::dict& kwargs) {
  return owned(choose(function.ptr(), args.ptr(), kwargs.ptr()));
}

void py_remove(const py::object& function, Py_ssize_t index) {
  if (remove(function.ptr(), index) != 0) {
    py::throw_error_already_set();
  }
}

void export_types() {
  for (const Ref& type : runtime::ready_guard_types()) {
    const std::string name = reinterpret_cast<PyTypeObject*>(type.get())->tp_name;
    const std::string last = "guards_" + name.substr(name.rfind('.') + 1);
    py::scope().attr(last.c_str()) = owned(Py_NewRef(type.get()));
  }
  PyTypeObject* graph = runtime::recorded_graph_type();
  if (graph == nullptr) {
    throw PythonError();
  }
  py::scope().attr("RecordedGraph") = owned(Py_NewRef(reinterpret_cast<PyObject*>(graph)));
}

}  // namespace

void export_specialize() {
  try {
    export_types();
  } catch (const PythonError&) {
    py::throw_error_already_set();
  }
  static Tagalong_API api = {TAGALONG_API_VERSION, runtime::guard_type(), specialize, get_specialized, choose, remove};
  py::scope().attr("_C_API") = owned(PyCapsule_New(&api, TAGALONG_CAPSULE, nullptr));
  py::def("specialize", py_specialize);
  py::def("get_specialized", py_get_specialized);
  py::def("uses_of_specialized", py_uses);
  py::def("choose_specialized", py_choose);
  py::def("remove_specialized", py_remove);
}

}  // namespace tagalong
