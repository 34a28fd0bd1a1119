// Looking up a name in a dict.
#pragma once

#include <Python.h>

#include "rewriter/base/ref.h"

namespace tagalong {

// Borrowed; null without an exception: there is no such item, or no memory. In some versions PyDict_GetItemString()
// prints the latter.
inline PyObject* item_of(PyObject* dict, const char* name) {
  const Ref key = Ref::steal(PyUnicode_FromString(name));
  PyObject* item = key ? PyDict_GetItemWithError(dict, key.get()) : nullptr;
  if (item == nullptr) {
    PyErr_Clear();
  }
  return item;
}

}  // namespace tagalong
