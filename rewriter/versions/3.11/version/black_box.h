// How functions that show code objects are called in CPython 3.11, for cpython/black_box/black_box.h.
#pragma once

#include <Python.h>

namespace tagalong::version {

inline constexpr bool kGeneratorCodeIsMember = true;  // gi_code and the like are members, otherwise getters

// gc.get_referrers() and gc.get_referents(), which take any number of objects.
inline constexpr int kObjectsFlags = METH_VARARGS;
using ObjectsFunction = PyCFunction;
inline PyObject* call_with_objects(ObjectsFunction function, PyObject* module, PyObject* objects) {
  return function(module, objects);
}
template <PyObject* (*Function)(PyObject* module, PyObject* objects)>
PyObject* with_objects(PyObject* module, PyObject* objects) {
  return Function(module, objects);
}

// marshal.dump() and marshal.dumps(), by the flags of their definition.
inline constexpr int kMarshalFlags = METH_FASTCALL;
using MarshalFunction = _PyCFunctionFast;

// eval().
inline constexpr int kEvalFlags = METH_FASTCALL;
using EvalFunction = _PyCFunctionFast;

}  // namespace tagalong::version
