#include "tests/support/python.h"

#include <boost/test/unit_test.hpp>
#include <cstddef>

namespace tagalong::testing {

Ref checked(PyObject* object) {
  if (object == nullptr) {
    PyErr_Print();
    BOOST_FAIL("Python raised an exception");
  }
  return Ref::steal(object);
}

std::string repr(PyObject* object) {
  const Ref text = checked(PyObject_Repr(object));
  return PyUnicode_AsUTF8(text.get());
}

std::string take_exception() {
  if (PyErr_Occurred() == nullptr) {
    return "none";
  }
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref owned_type = Ref::steal(type);
  const Ref owned_value = Ref::steal(value);
  const Ref owned_traceback = Ref::steal(traceback);
  return repr(value);
}

Namespace::Namespace(const std::string& source) : names_(checked(PyDict_New())) {
  PyDict_SetItemString(names_.get(), "__builtins__", PyEval_GetBuiltins());
  run(source);
}

void Namespace::run(const std::string& source) const {
  checked(PyRun_String(source.c_str(), Py_file_input, names_.get(), names_.get()));
}

Ref Namespace::operator()(const std::string& expression) const {
  return checked(PyRun_String(expression.c_str(), Py_eval_input, names_.get(), names_.get()));
}

std::string Namespace::show(const std::string& expression) const {
  const Ref value = Ref::steal(PyRun_String(expression.c_str(), Py_eval_input, names_.get(), names_.get()));
  return value ? repr(value.get()) : "raised " + take_exception();
}

PyFunctionObject* Namespace::function(const std::string& name) const {
  PyObject* object = PyDict_GetItemString(names_.get(), name.c_str());
  BOOST_REQUIRE_MESSAGE(object != nullptr && PyFunction_Check(object), name + " is no function");
  return reinterpret_cast<PyFunctionObject*>(object);
}

CodeRef Namespace::code(const std::string& name) const {
  return CodeRef::create(reinterpret_cast<PyCodeObject*>(function(name)->func_code));
}

void Namespace::set(const std::string& name, PyObject* value) const {
  PyDict_SetItemString(names_.get(), name.c_str(), value);
}

int instruction_named(PyCodeObject* code, const std::string& name, int n) {
  const rewriter::Assembly assembly = rewriter::decode(code);
  for (int index = 0; index < assembly.size(); ++index) {
    if (rewriter::info(assembly.instructions[static_cast<std::size_t>(index)].opcode).name == name && n-- == 0) {
      return index;
    }
  }
  BOOST_FAIL("no such instruction: " + name);
  return -1;
}

Py_ssize_t allocated_blocks() {
  const Ref count = checked(PyObject_CallNoArgs(PySys_GetObject("getallocatedblocks")));
  return PyLong_AsSsize_t(count.get());
}

}  // namespace tagalong::testing
