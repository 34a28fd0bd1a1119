// Attributes of classes, as far as a guard can check them.
#pragma once

#include "rewriter/base/errors.h"
#include "rewriter/base/ref.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::recorder {

// The attribute of a type along its MRO, borrowed. The look-up gives the type a version tag if it can have one. Throws
// PythonError if there is no memory for the name, because then nothing is known of the attribute.
inline PyObject* look_up(PyTypeObject* type, const char* name) {
  const Ref text = Ref::steal(PyUnicode_InternFromString(name));
  if (!text) {
    throw PythonError();
  }
  return _PyType_Lookup(type, text.get());
}

inline bool has_version(PyTypeObject* type) { return cpython::type_version(type) != 0; }

// The names in a mapping of keywords; null if it is not an exact dict of strings.
Ref names_in(PyObject* keywords);

// Whether object.__new__ makes the instances of the class, and `init` is its `__init__`.
bool is_plain_class(PyObject* object, PyObject* init);

}  // namespace tagalong::recorder
