#include "rewriter/cpython/new_functions.h"

#include <utility>

namespace tagalong::cpython {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): under the GIL
newfunc g_inherited = nullptr;
CodeRef (*g_code_of_new)(PyCodeObject* code) = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

PyObject* new_function(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* object = g_inherited(type, args, kwargs);
  if (object != nullptr) {
    auto* function = reinterpret_cast<PyFunctionObject*>(object);
    CodeRef code = g_code_of_new(reinterpret_cast<PyCodeObject*>(function->func_code));
    PyObject* old = std::exchange(function->func_code, reinterpret_cast<PyObject*>(code.release()));
    Py_DECREF(old);
  }
  return object;
}

}  // namespace

void watch_new_functions(CodeRef (*code_of_new)(PyCodeObject* code)) {
  g_code_of_new = code_of_new;
  if (g_inherited == nullptr) {
    g_inherited = std::exchange(PyFunction_Type.tp_new, new_function);
  }
}

}  // namespace tagalong::cpython
