// Items of exact lists and tuples, without calls.
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::replay {

// The position of an index in a list or tuple, negative if it is out of range.
inline Py_ssize_t place_in(PyObject* container, std::int64_t index) {
  const Py_ssize_t size = Py_SIZE(container);
  const std::int64_t place = index < 0 ? index + size : index;
  return place < 0 || place >= size ? -1 : static_cast<Py_ssize_t>(place);
}

inline PyObject** items_of(PyObject* container) {
  return PyList_CheckExact(container) ? reinterpret_cast<PyListObject*>(container)->ob_item
                                      : reinterpret_cast<PyTupleObject*>(container)->ob_item;
}

}  // namespace tagalong::replay
