#include "rewriter/cpython/functions.h"

#include <utility>

namespace tagalong::cpython {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): under the GIL
OwnedObjects g_owned_objects = {};
traverseproc g_inherited_traverse = nullptr;
inquiry g_inherited_clear = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

int traverse(PyObject* self, visitproc visit, void* argument) {
  const int result = g_inherited_traverse(self, visit, argument);
  return result != 0 ? result : g_owned_objects.visit(reinterpret_cast<PyFunctionObject*>(self), visit, argument);
}

int clear(PyObject* self) {
  g_owned_objects.clear(reinterpret_cast<PyFunctionObject*>(self));
  return g_inherited_clear(self);
}

}  // namespace

CodeRef install_code(PyFunctionObject* function, PyCodeObject* code) {
  function->func_version = 0;  // calls that were specialised for the old code look the function up again
  Py_INCREF(code);
  return CodeRef::steal(
      reinterpret_cast<PyCodeObject*>(std::exchange(function->func_code, reinterpret_cast<PyObject*>(code))));
}

void register_owned_objects(const OwnedObjects& objects) {
  if (g_inherited_traverse == nullptr) {
    g_owned_objects = objects;
    g_inherited_traverse = std::exchange(PyFunction_Type.tp_traverse, traverse);
    g_inherited_clear = std::exchange(PyFunction_Type.tp_clear, clear);
  }
}

void set_function(Frame* frame, PyFunctionObject* function) {
  Py_INCREF(function);
  PyFunctionObject* old = function_of(frame);
  version::set_function(frame, function);
  Py_DECREF(old);
}

bool can_become(const Frame* frame, const PyCodeObject* code) {
  const PyCodeObject* own = code_of(frame);
  return code->co_nlocalsplus + code->co_stacksize <= own->co_nlocalsplus + own->co_stacksize;
}

void become(Frame* frame, PyCodeObject* code, int unit, int arguments) {
  Py_INCREF(code);
  PyCodeObject* old = code_of(frame);
  version::set_code(frame, code);
  for (int slot = arguments; slot < code->co_nlocalsplus; ++slot) {
    frame->localsplus[slot] = nullptr;
  }
  frame->stacktop = code->co_nlocalsplus;
  version::set_next(frame, units_of(code) + unit);
  Py_DECREF(old);
}

}  // namespace tagalong::cpython
