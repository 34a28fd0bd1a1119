#include "rewriter/cpython/objects/dicts.h"

// CPython's own headers do not know C++'s <stdatomic.h>; the compiler's operations have the same layout.
#undef HAVE_STD_ATOMIC
#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include <internal/pycore_dict.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

namespace tagalong::cpython {

namespace {

// Comparing keys of these types runs no user code: the interpreter's own types, and subclasses of str that compare as
// str does (NumPy's).
bool is_compared_in_c(PyTypeObject* type) {
  const bool is_of_heap = PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) != 0;
  PyObject* method = is_of_heap || PyType_HasFeature(type, Py_TPFLAGS_UNICODE_SUBCLASS) != 0
                         ? _PyType_Lookup(type, &_Py_ID(__eq__))
                         : nullptr;
  return method == nullptr ? !is_of_heap : Py_IS_TYPE(method, &PyWrapperDescr_Type);
}

// Whether the dict has a key whose `__eq__` runs user code when `name` is looked up; without a name, when any str is.
bool has_asked_key(PyObject* dict, PyObject* name) {
  auto* keys = reinterpret_cast<PyDictObject*>(dict)->ma_keys;
  if (keys->dk_kind != DICT_KEYS_GENERAL) {  // all keys are exact strings
    return false;
  }
  const Py_hash_t hash = name == nullptr ? 0 : PyObject_Hash(name);
  const PyDictKeyEntry* entries = DK_ENTRIES(keys);
  for (Py_ssize_t place = 0; place < keys->dk_nentries; ++place) {
    const PyDictKeyEntry& entry = entries[place];
    if (entry.me_value != nullptr && (name == nullptr || entry.me_hash == hash) &&
        !PyUnicode_CheckExact(entry.me_key) && !is_compared_in_c(Py_TYPE(entry.me_key))) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool asks_keys(PyObject* dict, PyObject* name) { return has_asked_key(dict, name); }

bool has_asked_keys(PyObject* dict) { return has_asked_key(dict, nullptr); }

PyObject* find_name(PyObject* dict, PyObject* name, DictHint* hint) {
  constexpr std::uint32_t kMostSearches = 8;
  const auto* object = reinterpret_cast<PyDictObject*>(dict);
  auto* keys = object->ma_keys;
  const bool has_plain_entries = object->ma_values == nullptr && keys->dk_kind == DICT_KEYS_UNICODE;
  if (has_plain_entries && hint->place < keys->dk_nentries) {
    const PyDictUnicodeEntry& entry = DK_UNICODE_ENTRIES(keys)[hint->place];
    if (entry.me_key == name && entry.me_value != nullptr) {
      return entry.me_value;
    }
  }
  if (asks_keys(dict, name)) {
    return nullptr;
  }
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (value == nullptr) {
    PyErr_Clear();
  } else if (has_plain_entries && hint->searches < kMostSearches) {
    ++hint->searches;
    for (Py_ssize_t place = 0; place < keys->dk_nentries; ++place) {
      if (DK_UNICODE_ENTRIES(keys)[place].me_key == name) {
        hint->place = static_cast<std::uint32_t>(place);
        break;
      }
    }
  }
  return value;
}

PyObject* find_without_side_effects(PyObject* dict, PyObject* name) {
  PyObject* value = asks_keys(dict, name) ? nullptr : PyDict_GetItemWithError(dict, name);
  if (value == nullptr) {
    PyErr_Clear();
  }
  return value;
}

PyObject* find_string_key(PyObject* dict, PyObject* name) {
  if (!asks_keys(dict, name)) {
    return find_without_side_effects(dict, name);
  }
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &position, &key, &value) != 0) {
    if (key == name || (PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0)) {
      return value;
    }
  }
  return nullptr;
}

bool has_only_names(PyObject* dict) {
  return reinterpret_cast<PyDictObject*>(dict)->ma_keys->dk_kind != DICT_KEYS_GENERAL;
}

}  // namespace tagalong::cpython
