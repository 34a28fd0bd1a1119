#include "runtime/records/iterator_type.h"

#include <vector>

namespace tagalong::runtime {

PyTypeObject* make_iterator_type(const char* name, int size, iternextfunc next, reprfunc repr, destructor dealloc) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
      {Py_tp_iternext, reinterpret_cast<void*>(next)},
  };
  if (repr != nullptr) {
    slots.push_back({Py_tp_repr, reinterpret_cast<void*>(repr)});
  }
  if (dealloc != nullptr) {
    slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(dealloc)});
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, size, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace tagalong::runtime
