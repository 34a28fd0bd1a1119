// Version tags of dicts: a tag changes whenever the dict does and is never used twice in a process, so "same tag" means
// "same content".
#pragma once

#include <Python.h>

#include <cstdint>

#include "version/objects.h"

namespace tagalong::cpython {

inline std::uint64_t dict_version(PyObject* dict) { return version::dict_version(dict); }

// The type's version tag, 0 if it has none at the moment: the same tag means the same attributes along the whole MRO.
inline unsigned type_version(PyTypeObject* type) { return version::type_version(type); }

// Where a dict had a name at the last look-up. It is checked before use, so it may be outdated.
struct DictHint {
  std::uint32_t place = 0;
  std::uint32_t searches = 0;  // number of searches that updated the hint
};

// Whether looking up an exact str in a dict may run user code: the `__eq__` of a key with the same hash that is not an
// exact str. The dict's version does not say what value such a look-up finds.
bool asks_keys(PyObject* dict, PyObject* name);
// Whether this is so for any str.
bool has_asked_keys(PyObject* dict);
// The value that an exact dict has for an exact str, borrowed. Null: there is none, or the look-up would run user code.
PyObject* find_name(PyObject* dict, PyObject* name, DictHint* hint);
// The value for an exact str in the dict itself, which may be an instance of a subclass. Runs no user code: where a
// look-up would run some, this returns null. Borrowed.
PyObject* find_without_side_effects(PyObject* dict, PyObject* name);

// Like find_without_side_effects(), but looks only at keys that are exact strs, whatever other keys there are.
PyObject* find_string_key(PyObject* dict, PyObject* name);

// Whether all keys of an exact dict are exact strs: then looking one up runs no user code.
bool has_only_names(PyObject* dict);

}  // namespace tagalong::cpython
