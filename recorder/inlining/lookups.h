// What a class has by a name, as far as a guard can vouch for it.
#pragma once

#include "rewriter/base/errors.h"
#include "rewriter/base/ref.h"
#include "rewriter/cpython/dicts.h"

namespace tagalong::recorder {

// The attribute of a type along its MRO, borrowed; looking it up gives the type a version tag if it can have one.
// Without memory for the name nothing is known of the attribute: throws PythonError.
inline PyObject* look_up(PyTypeObject* type, const char* name) {
  const Ref text = Ref::steal(PyUnicode_InternFromString(name));
  if (!text) {
    throw PythonError();
  }
  return _PyType_Lookup(type, text.get());
}

inline bool has_version(PyTypeObject* type) { return cpython::type_version(type) != 0; }

// The names that a mapping of keywords gives, null where it is no plain dict of strings.
Ref names_in(PyObject* keywords);

// Whether object.__new__ makes the instances of the class, and this is its `__init__`.
bool is_plain_class(PyObject* object, PyObject* init);

}  // namespace tagalong::recorder
