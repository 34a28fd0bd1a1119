#include "recorder/inlining/lookups.h"

namespace tagalong::recorder {

Ref names_in(PyObject* keywords) {
  if (!PyDict_CheckExact(keywords)) {
    return {};
  }
  Ref names = Ref::steal(PyTuple_New(PyDict_GET_SIZE(keywords)));
  Py_ssize_t place = 0;
  PyObject* key = nullptr;
  for (Py_ssize_t index = 0; names && PyDict_Next(keywords, &place, &key, nullptr) != 0; ++index) {
    if (!PyUnicode_CheckExact(key)) {
      return {};
    }
    PyTuple_SET_ITEM(names.get(), index, Py_NewRef(key));
  }
  if (!names) {
    PyErr_Clear();
  }
  return names;
}

bool is_plain_class(PyObject* object, PyObject* init) {
  // A metaclass that does not override __call__ makes instances as `type` does.
  if (!PyType_Check(object) || Py_TYPE(object)->tp_call != PyType_Type.tp_call) {
    return false;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  PyTypeObject* metaclass = Py_TYPE(object);
  look_up(metaclass, "__call__");
  return type->tp_new == PyBaseObject_Type.tp_new && look_up(type, "__init__") == init && has_version(type) &&
         (metaclass == &PyType_Type || has_version(metaclass));
}

}  // namespace tagalong::recorder
