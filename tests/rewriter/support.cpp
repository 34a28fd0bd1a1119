#include "tests/rewriter/support.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace tagalong::rewriter::testing {

namespace {

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

}  // namespace

Ref evaluate(const std::string& expression, const std::string& setup) {
  const Ref globals = checked(PyDict_New());
  PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins());
  checked(PyRun_String(setup.c_str(), Py_file_input, globals.get(), globals.get()));
  return checked(PyRun_String(expression.c_str(), Py_eval_input, globals.get(), globals.get()));
}

long integer(const std::string& expression, const std::string& setup) {
  return PyLong_AsLong(evaluate(expression, setup).get());
}

CodeRef function_code(const std::string& source) {
  return CodeRef::steal(reinterpret_cast<PyCodeObject*>(evaluate("f.__code__", source).release()));
}

std::string call(const CodeRef& code, const std::vector<Ref>& arguments) {
  const Ref globals = checked(PyDict_New());
  PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins());
  const Ref function = checked(PyFunction_New(reinterpret_cast<PyObject*>(code.get()), globals.get()));
  const Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Ref(arguments[i]).release());
  }
  const Ref result = Ref::steal(PyObject_CallObject(function.get(), tuple.get()));
  if (result) {
    return repr(result.get());
  }
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref owned[] = {Ref::steal(type), Ref::steal(value), Ref::steal(traceback)};
  return repr(value);
}

std::string bytes_of(PyObject* bytes) {
  return {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

std::string code_bytes(const CodeRef& code) {
  const Ref bytes = checked(PyCode_GetCode(code.get()));
  return bytes_of(bytes.get());
}

bool same_tables(const CodeRef& left, const CodeRef& right) {
  return code_bytes(left) == code_bytes(right) &&
         bytes_of(left->co_exceptiontable) == bytes_of(right->co_exceptiontable) &&
         bytes_of(left->co_linetable) == bytes_of(right->co_linetable) && left->co_stacksize == right->co_stacksize &&
         left->co_names == right->co_names && left->co_consts == right->co_consts &&
         PyObject_RichCompareBool(reinterpret_cast<PyObject*>(left.get()), reinterpret_cast<PyObject*>(right.get()),
                                  Py_EQ) == 1;
}

Opcode known_of(std::initializer_list<Opcode> opcodes) {
  const auto* known = std::ranges::find_if(opcodes, [](Opcode opcode) { return info(opcode).known(); });
  BOOST_REQUIRE(known != opcodes.end());
  return *known;
}

int find(const Assembly& assembly, Opcode opcode, int n) {
  for (int i = 0; i < assembly.size(); ++i) {
    if (assembly.instructions[static_cast<std::size_t>(i)].opcode == opcode && n-- == 0) {
      return i;
    }
  }
  BOOST_FAIL("there is no " << info(opcode).name);
  return -1;
}

}  // namespace tagalong::rewriter::testing
