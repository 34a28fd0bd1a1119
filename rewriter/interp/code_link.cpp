#include "rewriter/interp/code_link.h"

namespace tagalong::interp {
namespace {

void free_link(void* original) { Py_XDECREF(static_cast<PyObject*>(original)); }

Py_ssize_t link_index() {
  static const Py_ssize_t index = _PyEval_RequestCodeExtraIndex(free_link);
  return index;
}

Py_ssize_t constants_index() {
  static const Py_ssize_t index = _PyEval_RequestCodeExtraIndex(free_link);
  return index;
}

PyObject* extra(PyCodeObject* code, Py_ssize_t index) {
  void* object = nullptr;
  if (_PyCode_GetExtra(reinterpret_cast<PyObject*>(code), index, &object) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  return static_cast<PyObject*>(object);
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
  PyObject* original = extra(code, link_index());
  return original == nullptr ? code : reinterpret_cast<PyCodeObject*>(original);
}

bool exchange_constants(PyCodeObject* code, PyObject* constants) {
  if (extra(code, constants_index()) == nullptr) {
    // Takes over the code object's own reference: frames that run now still read their constants from that tuple.
    if (_PyCode_SetExtra(reinterpret_cast<PyObject*>(code), constants_index(), code->co_consts) != 0) {
      return false;
    }
  } else {
    Py_DECREF(code->co_consts);
  }
  Py_INCREF(constants);
  code->co_consts = constants;
  return true;
}

PyObject* original_constants(PyCodeObject* code) {
  PyObject* constants = extra(code, constants_index());
  return constants == nullptr ? code->co_consts : constants;
}

}  // namespace tagalong::interp
