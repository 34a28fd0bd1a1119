// Version tags of dicts: a tag changes whenever the dict does and is never used twice in a process, so "same tag" means
// "same content". (3.12 deprecates the field; watchers take its place there.)
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::cpython {

inline std::uint64_t dict_version(PyObject* dict) { return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag; }

// The type's version tag, 0 if it has none at the moment: the same tag means the same attributes along the whole MRO.
inline unsigned type_version(PyTypeObject* type) {
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) != 0 ? type->tp_version_tag : 0;
}

// Where a dict has had a name; looked at first, so it need not be right.
struct DictHint {
  std::uint32_t place = 0;
  std::uint32_t searches = 0;  // for a better one
};

// Whether looking up an exact str in a dict runs code of the program's: the `__eq__` of a key with the same hash that
// is no exact str. What such a name stands for, the dict's version does not tell.
bool asks_keys(PyObject* dict, PyObject* name);
// Whether there is a str for which that is so.
bool has_asked_keys(PyObject* dict);
// The value that an exact dict has for an exact str, borrowed; null: none, or looking it up would ask keys.
PyObject* find_name(PyObject* dict, PyObject* name, DictHint* hint);
// The value of any dict, also an instance of a subclass, as the dict itself has it, for an exact str. Runs no code of
// the program's: where that would ask keys, there is no value. Borrowed.
PyObject* find_quietly(PyObject* dict, PyObject* name);

// The same among the keys that are exact strs, whatever other keys there are.
PyObject* find_string_key(PyObject* dict, PyObject* name);

// Whether all keys of an exact dict are exact strs: then one is looked up without code of anybody's.
bool has_only_names(PyObject* dict);

}  // namespace tagalong::cpython
