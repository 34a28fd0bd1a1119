// Version tags of dicts: a tag changes whenever the dict does and is never used twice in a process, so "same tag" means
// "same content". (3.12 deprecates the field; watchers take its place there.)
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::interp {

inline std::uint64_t dict_version(PyObject* dict) { return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag; }

// The type's version tag, 0 if it has none at the moment: the same tag means the same attributes along the whole MRO.
inline unsigned type_version(PyTypeObject* type) {
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) != 0 ? type->tp_version_tag : 0;
}

}  // namespace tagalong::interp
