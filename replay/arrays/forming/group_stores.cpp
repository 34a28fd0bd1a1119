#include "replay/arrays/forming/group_stores.h"

#include "replay/steps/known_attributes.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

StoreKind kind_of(const Step& step) {
  return step.op == Op::store_attr     ? StoreKind::kAttribute
         : step.op == Op::store_subscr ? StoreKind::kItem
                                       : StoreKind::kAppend;
}

std::optional<PyObject*> replaced_by(const Step& step, PyObject* object, PyObject* key) {
  switch (kind_of(step)) {
    case StoreKind::kAttribute: {
      PyObject** place = place_to_store(step, object);
      return place == nullptr ? std::nullopt : std::optional(*place);
    }
    case StoreKind::kItem: {  // a new key may need memory
      const bool is_plain = PyDict_CheckExact(object) && PyUnicode_CheckExact(key) && cpython::has_only_names(object);
      PyObject* item = is_plain ? PyDict_GetItemWithError(object, key) : nullptr;
      return item == nullptr ? std::nullopt : std::optional(item);
    }
    case StoreKind::kAppend:
      return PyList_CheckExact(object) ? std::optional<PyObject*>(nullptr) : std::nullopt;
  }
  return std::nullopt;
}

bool has_room(PyObject* list, Py_ssize_t count) {
  return reinterpret_cast<PyListObject*>(list)->allocated - PyList_GET_SIZE(list) >= count;
}

bool reserve_items(PyObject* list, Py_ssize_t count) {
  const Py_ssize_t size = PyList_GET_SIZE(list);
  bool is_reserved = true;
  for (Py_ssize_t number = 0; number < count && is_reserved; ++number) {
    is_reserved = PyList_Append(list, Py_None) == 0;
  }
  while (PyList_GET_SIZE(list) > size) {  // the list keeps its memory
    Py_SET_SIZE(list, PyList_GET_SIZE(list) - 1);
    Py_DECREF(Py_None);
  }
  PyErr_Clear();
  return is_reserved;
}

void store_object(const Step& step, PyObject* object, PyObject* key, PyObject* value) {
  bool is_stored = false;
  switch (kind_of(step)) {
    case StoreKind::kAttribute: {
      const cpython::Attribute* known = known_attribute(step, Py_TYPE(object));
      Ref old;
      is_stored = (known != nullptr && store_known(object, *known, value, &old)) ||
                  PyObject_SetAttr(object, step.object, value) == 0;
      break;
    }
    case StoreKind::kItem:
      is_stored = PyDict_SetItem(object, key, value) == 0;
      break;
    case StoreKind::kAppend:
      is_stored = PyList_Append(object, value) == 0;
      break;
  }
  if (!is_stored) {
    PyErr_WriteUnraisable(object);
  }
}

}  // namespace tagalong::replay
