#include "rewriter/interp/dicts.h"

#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE

namespace tagalong::interp {

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

PyObject* find_quietly(PyObject* dict, PyObject* name) {
  const auto* object = reinterpret_cast<PyDictObject*>(dict);
  PyObject* value = nullptr;
  if (object->ma_keys->dk_kind != DICT_KEYS_GENERAL) {  // all keys are exact strings
    value = PyDict_GetItemWithError(dict, name);
    if (value == nullptr) {
      PyErr_Clear();
    }
    return value;
  }
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
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

}  // namespace tagalong::interp
