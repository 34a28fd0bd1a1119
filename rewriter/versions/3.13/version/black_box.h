// How functions that show code objects are called in CPython 3.13, for cpython/black_box/black_box.h.
#pragma once

#include <Python.h>

#include "rewriter/base/ref.h"

namespace tagalong::version {

inline constexpr bool kGeneratorCodeIsMember = false;  // gi_code and the like are members, otherwise getters

// gc.get_referrers() and gc.get_referents(), which take any number of objects.
inline constexpr int kObjectsFlags = METH_FASTCALL;
using ObjectsFunction = PyCFunctionFast;
inline PyObject* call_with_objects(ObjectsFunction function, PyObject* module, PyObject* objects) {
  return function(module, &PyTuple_GET_ITEM(objects, 0), PyTuple_GET_SIZE(objects));
}
template <PyObject* (*Function)(PyObject* module, PyObject* objects)>
PyObject* with_objects(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  const Ref objects = Ref::steal(PyTuple_New(count));
  if (!objects) {
    return nullptr;
  }
  PyObject_GC_UnTrack(objects.get());  // it refers to the objects and must not be found
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyTuple_SET_ITEM(objects.get(), index, Py_NewRef(arguments[index]));
  }
  return Function(module, objects.get());
}

// marshal.dump() and marshal.dumps(), by the flags of their definition.
inline constexpr int kMarshalFlags = METH_FASTCALL | METH_KEYWORDS;
using MarshalFunction = PyCFunctionFastWithKeywords;

// eval().
inline constexpr int kEvalFlags = METH_FASTCALL | METH_KEYWORDS;
using EvalFunction = PyCFunctionFastWithKeywords;

}  // namespace tagalong::version
