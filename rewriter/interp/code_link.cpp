#include "rewriter/interp/code_link.h"

namespace tagalong::interp {
namespace {

void free_link(void* original) { Py_XDECREF(static_cast<PyObject*>(original)); }

Py_ssize_t link_index() {
  static const Py_ssize_t index = _PyEval_RequestCodeExtraIndex(free_link);
  return index;
}

}  // namespace

bool set_original(PyCodeObject* derived, PyCodeObject* original) {
  Py_INCREF(original);
  if (_PyCode_SetExtra(reinterpret_cast<PyObject*>(derived), link_index(), original) != 0) {
    Py_DECREF(original);
    return false;
  }
  return true;
}

PyCodeObject* original_of(PyCodeObject* code) {
  void* original = nullptr;
  if (_PyCode_GetExtra(reinterpret_cast<PyObject*>(code), link_index(), &original) != 0) {
    PyErr_Clear();
    return code;
  }
  return original == nullptr ? code : static_cast<PyCodeObject*>(original);
}

}  // namespace tagalong::interp
