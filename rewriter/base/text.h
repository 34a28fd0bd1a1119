// Converting Python strings to UTF-8 for our messages.
#pragma once

#include <Python.h>

#include <string>

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// A str as UTF-8. Characters that have no UTF-8 form (in a file name of another encoding) are escaped. Gives "?" for an
// object that is not a str. Sets no exception.
inline std::string readable(PyObject* text) {
  const Ref bytes = text != nullptr && PyUnicode_Check(text)
                        ? Ref::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"))
                        : Ref();
  if (!bytes) {
    PyErr_Clear();
    return "?";
  }
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

}  // namespace tagalong::cpython
