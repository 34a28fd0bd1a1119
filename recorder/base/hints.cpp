#include "recorder/base/hints.h"

#include <string_view>

namespace tagalong::recorder {

// Compared by name, so that NumPy need not be installed.
bool is_array_type(PyTypeObject* type) {
  return type != nullptr && std::string_view(type->tp_name) == "numpy.ndarray" &&
         PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) == 0;
}

bool is_ufunc(PyObject* object) {
  return object != nullptr && std::string_view(Py_TYPE(object)->tp_name) == "numpy.ufunc" &&
         PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) == 0;
}

}  // namespace tagalong::recorder
