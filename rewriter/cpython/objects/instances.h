// Where instances of ordinary classes keep their attributes: in an array of values, in the order of the keys that all
// instances of the class share, or in a slot of the object. A location that was found once can be used again.
//
//   const Attribute found = find_attribute(type, name);  // stays true while the type has its version tag
//   if (PyObject** value = place_of(object, found)) ...
#pragma once

#include <Python.h>

#include <cstdint>

#include "version/objects.h"

namespace tagalong::cpython {

struct Attribute {
  enum class Kind : std::uint8_t {
    kUnknown,  // ask the interpreter; the first `index` shared keys do not tell
    kValue,    // number `index` of the array
    kSlot,     // at offset `index`, in bytes, of the object
    kOfType,   // attribute `object` of the type; the first `index` shared keys say that no instance has its own
  };
  Kind kind = Kind::kUnknown;
  bool is_method = false;  // for kOfType: a function that takes the instance
  bool is_plain = false;   // for kOfType: not a descriptor
  std::int32_t index = 0;
  PyObject* object = nullptr;  // borrowed
};

// Runs no user code.
Attribute find_attribute(PyTypeObject* type, PyObject* name);
// The attribute of an ordinary class, borrowed. Null: ask the interpreter. Runs no user code.
PyObject* find_class_attribute(PyObject* object, PyObject* name);
// Whether the shared keys have grown since then; the attribute may be among the new ones.
bool is_outdated(PyTypeObject* type, const Attribute& found);

// The array of an instance whose class has Py_TPFLAGS_MANAGED_DICT; null: it has a dict instead.
inline PyObject** values_of(PyObject* object) { return version::values_of(object); }

// The instance's dict, borrowed; null: it has none, or none has been made yet.
PyObject* dict_of_instance(PyObject* object);
// Whether the instance has an attribute of its own in its dict or its array. Runs no user code: where the look-up would
// run some (`asks_keys`), the result is true.
bool may_have_own(PyObject* object, PyObject* name);

// Offset of the field in PyDictKeysObject.
inline constexpr int kSharedKeyCount = 24;
// How many keys the instances of the class share; keys are only added.
int shared_key_count(PyTypeObject* type);
// Gives the instance its first value under the shared key number `index`, in its array.
void add_value(PyObject* object, std::int32_t index, PyObject* value);

// The location of the instance's own value; null if the instance has no array any more.
inline PyObject** place_of(PyObject* object, const Attribute& found) {
  if (found.kind == Attribute::Kind::kValue) {
    PyObject** values = values_of(object);
    return values == nullptr ? nullptr : values + found.index;
  }
  return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + found.index);
}

// Whether no attribute of the instance hides the type's.
inline bool is_visible(PyObject* object, const Attribute& found) {
  PyTypeObject* type = Py_TYPE(object);
  return PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT) == 0 ||
         (values_of(object) != nullptr && shared_key_count(type) == found.index);
}

}  // namespace tagalong::cpython
