#define Py_BUILD_CORE 1  // NOLINT: what the headers ask for
#include "rewriter/cpython/objects/instances.h"

#include <internal/pycore_dict.h>
#include <structmember.h>
#undef Py_BUILD_CORE

#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::cpython {

static_assert(offsetof(PyDictKeysObject, dk_nentries) == kSharedKeyCount);

namespace {

PyDictKeysObject* shared_keys(PyTypeObject* type) { return reinterpret_cast<PyHeapTypeObject*>(type)->ht_cached_keys; }

// A key that was set through a `__dict__` need not be interned.
int index_of(PyDictKeysObject* keys, PyObject* name) {
  const PyDictUnicodeEntry* entries = DK_UNICODE_ENTRIES(keys);
  const Py_hash_t hash = PyObject_Hash(name);
  for (Py_ssize_t index = 0; index < keys->dk_nentries; ++index) {
    PyObject* key = entries[index].me_key;
    if (key == name || (PyObject_Hash(key) == hash && PyUnicode_Compare(key, name) == 0)) {
      return static_cast<int>(index);
    }
  }
  return -1;
}

bool has_shared_values(PyTypeObject* type) {
  return PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT) != 0 && shared_keys(type) != nullptr &&
         DK_IS_UNICODE(shared_keys(type));
}

}  // namespace

int shared_key_count(PyTypeObject* type) { return static_cast<int>(shared_keys(type)->dk_nentries); }

PyObject* dict_of_instance(PyObject* object) {
  if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT) != 0) {
    return version::managed_dict(object);  // _PyObject_GetDictPtr would make a dict
  }
  PyObject** dict = _PyObject_GetDictPtr(object);
  return dict == nullptr ? nullptr : *dict;
}

bool may_have_own(PyObject* object, PyObject* name) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject* dict = dict_of_instance(object);
  if (dict != nullptr) {
    return asks_keys(dict, name) || find_without_side_effects(dict, name) != nullptr;
  }
  if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT) == 0 || values_of(object) == nullptr) {
    return false;
  }
  const int index = index_of(shared_keys(type), name);
  return index >= 0 && values_of(object)[index] != nullptr;
}

void add_value(PyObject* object, std::int32_t index, PyObject* value) {
  values_of(object)[index] = value;
  version::add_to_insertion_order(object, index);
}

bool is_outdated(PyTypeObject* type, const Attribute& found) {
  const bool counts = found.kind == Attribute::Kind::kUnknown || found.kind == Attribute::Kind::kOfType;
  return counts && found.index != (has_shared_values(type) ? shared_key_count(type) : 0);
}

Attribute find_attribute(PyTypeObject* type, PyObject* name) {
  Attribute found;
  const bool has_values = has_shared_values(type);
  found.index = has_values ? shared_key_count(type) : 0;
  if (type->tp_getattro != PyObject_GenericGetAttr || type->tp_setattro != PyObject_GenericSetAttr) {
    return found;
  }
  const bool has_dict = PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT) != 0 || type->tp_dictoffset != 0;
  PyObject* known = _PyType_Lookup(type, name);
  const int index = has_values ? index_of(shared_keys(type), name) : -1;
  if (known == nullptr) {
    if (index >= 0) {
      found.kind = Attribute::Kind::kValue;
      found.index = index;
    }
    return found;
  }
  if (Py_IS_TYPE(known, &PyMemberDescr_Type)) {
    const auto* descriptor = reinterpret_cast<PyMemberDescrObject*>(known);
    const PyMemberDef* member = descriptor->d_member;
    if (member->type == T_OBJECT_EX && member->flags == 0 && PyType_IsSubtype(type, descriptor->d_common.d_type) != 0) {
      found.kind = Attribute::Kind::kSlot;
      found.index = static_cast<std::int32_t>(member->offset);
    }
    return found;
  }
  found.is_method = PyType_HasFeature(Py_TYPE(known), Py_TPFLAGS_METHOD_DESCRIPTOR) != 0;
  found.is_plain = Py_TYPE(known)->tp_descr_get == nullptr && Py_TYPE(known)->tp_descr_set == nullptr;
  if ((found.is_method || found.is_plain) && index < 0 && has_dict == has_values) {
    found.kind = Attribute::Kind::kOfType;
    found.object = known;
  }
  return found;
}

PyObject* find_class_attribute(PyObject* object, PyObject* name) {
  if (!Py_IS_TYPE(object, &PyType_Type) || _PyType_Lookup(&PyType_Type, name) != nullptr) {
    return nullptr;
  }
  PyObject* known = _PyType_Lookup(reinterpret_cast<PyTypeObject*>(object), name);
  return known != nullptr && Py_TYPE(known)->tp_descr_get == nullptr ? known : nullptr;
}

}  // namespace tagalong::cpython
