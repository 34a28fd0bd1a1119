#include "replay/executor/finalisers.h"

#include <algorithm>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/passes/abstract_values.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/instances.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::replay {
namespace {

// Whether nothing but the array's base may notice the end of the array.
bool is_plain_array(PyObject* object) {
  const array::ArrayFields& fields = *array::as_array(object);
  const auto number = static_cast<unsigned>(reinterpret_cast<const array::DescrFields*>(fields.descr)->type_num);
  return fields.weakreflist == nullptr && array::is_handled(number) &&
         (fields.base == nullptr || (fields.flags & array::kWriteBackIfCopy) == 0);
}

}  // namespace

bool dies_without_user_code(PyObject* object) {
  if (is_plain(Py_TYPE(object)) || cpython::is_plain_slice(object)) {
    return true;
  }
  // An index of numbers and slices.
  if (PyTuple_CheckExact(object)) {
    const auto is_noticed = [](PyObject* item) {
      return Py_REFCNT(item) == 1 && !is_plain(Py_TYPE(item)) && !cpython::is_plain_slice(item);
    };
    PyObject** items = PySequence_Fast_ITEMS(object);
    return std::none_of(items, items + PyTuple_GET_SIZE(object), is_noticed);
  }
  // Without an array so far NumPy is not looked for: the interpreter may be about to end.
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || Py_TYPE(object) != np->array_type) {
    return false;
  }
  PyObject* base = array::as_array(object)->base;  // which a view drops
  return is_plain_array(object) && (base == nullptr || Py_REFCNT(base) > 1 || dies_without_user_code(base));
}

namespace {

// Whether the end of the object is never noticed, even if all that it refers to ends with it.
bool is_inert(PyObject* object) {
  constexpr int kMostBases = 8;
  const array::Numpy* np = array::met_numpy();
  for (int depth = 0; depth < kMostBases; ++depth) {
    if (object == nullptr || is_plain(Py_TYPE(object)) || cpython::is_plain_slice(object)) {
      return true;
    }
    if (np == nullptr) {
      return false;
    }
    if (array::is_numpy_scalar(array::classify(*np, object))) {
      return true;
    }
    if (Py_TYPE(object) != np->array_type || !is_plain_array(object)) {
      return false;
    }
    object = array::as_array(object)->base;
  }
  return false;
}

// What frees instances of classes that are written in Python.
destructor freeing_instances() {
  static const destructor known = [] {
    PyType_Slot slots[] = {{0, nullptr}};
    PyType_Spec spec{"tagalong.Plain", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    const Ref type = Ref::steal(PyType_FromSpec(&spec));
    PyErr_Clear();
    return type ? reinterpret_cast<PyTypeObject*>(type.get())->tp_dealloc : nullptr;
  }();
  return known;
}

// Adds the attributes of an instance that has nothing else. False: it has, or its end may be noticed.
bool add_attributes_of(PyObject* object, DroppedReferences* dropped) {
  PyTypeObject* type = Py_TYPE(object);
  const bool has_weak_references = type->tp_weaklistoffset > 0;
  const Py_ssize_t plain_size =
      PyBaseObject_Type.tp_basicsize + (has_weak_references ? static_cast<Py_ssize_t>(sizeof(PyObject*)) : 0);
  if (type->tp_dealloc == nullptr || type->tp_dealloc != freeing_instances() || type->tp_finalize != nullptr ||
      type->tp_del != nullptr || PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT) == 0 ||
      type->tp_basicsize != plain_size || type->tp_itemsize != 0 || cpython::values_of(object) == nullptr ||
      (has_weak_references && *PyObject_GET_WEAKREFS_LISTPTR(object) != nullptr)) {
    return false;
  }
  PyObject** values = cpython::values_of(object);
  dropped->insert(dropped->end(), values, values + cpython::shared_key_count(type));
  return true;
}

// Adds the references of a dying object. False: its end may be noticed.
bool add_references_of(PyObject* object, DroppedReferences* dropped) {
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    PyObject** items = PySequence_Fast_ITEMS(object);
    dropped->insert(dropped->end(), items, items + PySequence_Fast_GET_SIZE(object));
    return true;
  }
  if (Py_TYPE(object) == &PyMethod_Type) {
    const auto* method = reinterpret_cast<PyMethodObject*>(object);
    dropped->insert(dropped->end(), {method->im_func, method->im_self});
    return method->im_weakreflist == nullptr;
  }
  if (Py_TYPE(object) == &PyCFunction_Type) {
    const auto* function = reinterpret_cast<PyCFunctionObject*>(object);
    dropped->insert(dropped->end(), {function->m_self, function->m_module});
    return function->m_weakreflist == nullptr;
  }
  const array::Numpy* np = array::met_numpy();
  if (np != nullptr && Py_TYPE(object) == np->array_type) {
    dropped->push_back(array::as_array(object)->base);
    return is_plain_array(object);
  }
  return cpython::is_used_up(object) || add_attributes_of(object, dropped);
}

}  // namespace

bool drop_without_user_code(DroppedReferences* dropped) {
  constexpr std::size_t kMost = 4096;
  for (std::size_t number = 0; number < dropped->size(); ++number) {
    PyObject* object = (*dropped)[number];
    if (is_inert(object)) {
      continue;
    }
    // Only the last of several references can end the object.
    const auto here = dropped->begin() + static_cast<std::ptrdiff_t>(number);
    const bool is_last = std::find(here + 1, dropped->end(), object) == dropped->end();
    if (!is_last || Py_REFCNT(object) > std::count(dropped->begin(), here + 1, object)) {
      continue;
    }
    if (dropped->size() > kMost || !add_references_of(object, dropped)) {
      return false;
    }
  }
  return true;
}

bool may_drop_reference(const DroppedReferences& dropped, std::size_t count, PyObject* operand) {
  const array::Numpy* np = array::met_numpy();
  const auto leads_elsewhere = [&](PyObject* object) {
    constexpr int kMostBases = 8;
    for (int depth = 0; depth < kMostBases && object != operand; ++depth) {
      if (object == nullptr || is_plain(Py_TYPE(object)) || array::is_numpy_scalar(array::classify(*np, object))) {
        return true;
      }
      if (Py_TYPE(object) != np->array_type || !is_plain_array(object)) {
        return false;
      }
      object = array::as_array(object)->base;
    }
    return false;
  };
  const auto first = dropped.begin();
  return np != nullptr && std::any_of(first, first + static_cast<std::ptrdiff_t>(count), [&](PyObject* object) {
           return !leads_elsewhere(object) &&
                  (object == operand || Py_REFCNT(object) <= std::count(first, dropped.end(), object));
         });
}

}  // namespace tagalong::replay
