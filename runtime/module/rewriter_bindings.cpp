// The rewriter for Python. Boost.Python stays here.
#include <boost/python.hpp>
#include <functional>
#include <string>
#include <vector>

#include "rewriter/base/errors.h"
#include "rewriter/code.h"
#include "rewriter/disassemble.h"
#include "rewriter/instrument.h"
#include "rewriter/stub.h"
#include "runtime/module/exports.h"
#include "runtime/module/hooks_object.h"

namespace tagalong {

namespace {

namespace py = boost::python;

PyObject* rewrite_error = nullptr;  // never freed, as the module

void translate_rewrite_error(const rewriter::RewriteError& error) { PyErr_SetString(rewrite_error, error.what()); }
void translate_python_error(const PythonError& /*the exception is set already*/) {}

PyCodeObject* code_of(const py::object& object) {
  if (PyCode_Check(object.ptr()) == 0) {
    PyErr_Format(PyExc_TypeError, "a code object is needed, not %.200s", Py_TYPE(object.ptr())->tp_name);
    throw PythonError();
  }
  return reinterpret_cast<PyCodeObject*>(object.ptr());
}

py::object object_from(CodeRef code) { return py::object(py::handle<>(reinterpret_cast<PyObject*>(code.release()))); }

py::list list_from(const std::vector<int>& numbers) {
  py::list list;
  for (const int number : numbers) {
    list.append(number);
  }
  return list;
}

py::object round_trip(const py::object& code) {
  return object_from(rewriter::encode(rewriter::decode(code_of(code))).code);
}

py::list depths(const py::object& code) { return list_from(rewriter::stack_depths(rewriter::decode(code_of(code)))); }

py::list offsets(const py::object& code) {
  return list_from(rewriter::encode(rewriter::decode(code_of(code))).offsets);
}

py::object disassemble(const py::object& code) {
  const std::string text = rewriter::disassemble(code_of(code));
  return py::object(py::handle<>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr)));
}

// A text may be correct and Python still cannot make the object, such as an int of too many digits: that is a
// RewriteError, too. Other exceptions, such as MemoryError, are propagated.
[[noreturn]] void refuse_as_python_did() {
  if (PyErr_ExceptionMatches(PyExc_ValueError) == 0 && PyErr_ExceptionMatches(PyExc_OverflowError) == 0 &&
      PyErr_ExceptionMatches(PyExc_SyntaxError) == 0) {
    throw PythonError();
  }
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref raised = Ref::steal(value);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  const Ref text = Ref::steal(PyObject_Str(raised.get()));
  const char* bytes = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  PyErr_Clear();
  rewriter::refuse("{}", bytes == nullptr ? "the text is no code" : bytes);
}

py::object assemble(const py::object& text, const py::object& objects) {
  if (PyUnicode_Check(text.ptr()) == 0) {
    PyErr_Format(PyExc_TypeError, "the text must be a str, not %.200s", Py_TYPE(text.ptr())->tp_name);
    throw PythonError();
  }
  try {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) {
      throw PythonError();
    }
    return object_from(
        rewriter::assemble({bytes, static_cast<std::size_t>(size)}, objects.is_none() ? nullptr : objects.ptr()));
  } catch (const PythonError&) {
    refuse_as_python_did();
  }
}

// `where` is None for "all", or a sequence of instruction indices.
std::function<bool(int)> chosen(const py::object& where, int size) {
  if (where.is_none()) {
    return [](int) { return true; };
  }
  std::vector<bool> wanted(static_cast<std::size_t>(size), false);
  const Ref items = Ref::steal(PySequence_Fast(where.ptr(), "where must be a sequence of integers"));
  if (!items) {
    throw PythonError();
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    const Py_ssize_t index = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(items.get(), i), nullptr);
    if (index == -1 && PyErr_Occurred() != nullptr) {
      throw PythonError();
    }
    if (index < 0 || index >= size) {
      rewriter::refuse("instruction {} was chosen, there are {}", index, size);
    }
    wanted[static_cast<std::size_t>(index)] = true;
  }
  return [wanted = std::move(wanted)](int index) { return static_cast<bool>(wanted[static_cast<std::size_t>(index)]); };
}

// (code, offsets, offsets of hooks before, of hooks after, depths)
py::tuple instrument(const py::object& code, const py::object& callable, const py::object& before,
                     const py::object& after) {
  const rewriter::Assembly assembly = rewriter::decode(code_of(code));
  rewriter::HookPlan plan;
  plan.callable = Ref::create(callable.ptr());
  plan.before = chosen(before, assembly.size());
  plan.after = chosen(after, assembly.size());
  rewriter::Instrumented result = rewriter::instrument(assembly, plan);
  return py::make_tuple(object_from(std::move(result.code)), list_from(result.offsets),
                        list_from(result.before_hook_offsets), list_from(result.after_hook_offsets),
                        list_from(result.depths));
}

}  // namespace

void export_rewriter() {
  rewrite_error = PyErr_NewExceptionWithDoc("tagalong.rewriter.RewriteError",
                                            "Malformed code, or a change to code that cannot be encoded.",
                                            PyExc_ValueError, nullptr);
  if (rewrite_error == nullptr) {
    py::throw_error_already_set();
  }
  py::scope().attr("rewriter_RewriteError") = py::object(py::handle<>(py::borrowed(rewrite_error)));
  py::scope().attr("rewriter_Hooks") = py::object(py::handle<>(make_hooks_type().release()));
  py::register_exception_translator<rewriter::RewriteError>(translate_rewrite_error);
  py::register_exception_translator<PythonError>(translate_python_error);
  py::def("rewriter_round_trip", round_trip, py::arg("code"));
  py::def("rewriter_stack_depths", depths, py::arg("code"));
  py::def("rewriter_offsets", offsets, py::arg("code"));
  py::def("rewriter_disassemble", disassemble, py::arg("code"));
  py::def("rewriter_assemble", assemble, (py::arg("text"), py::arg("objects")));
  py::def("rewriter_instrument", instrument,
          (py::arg("code"), py::arg("callable"), py::arg("before"), py::arg("after")));
}

}  // namespace tagalong
