// Offsets, in bytes, of the fields of the interpreter's objects that machine code reads and writes: for one version.
#pragma once

#include <Python.h>

#include <cstddef>

#include "rewriter/cpython/objects/iterators.h"
#include "version/frames.h"

namespace tagalong::cpython::layout {

inline constexpr int kType = offsetof(PyObject, ob_type);
inline constexpr int kSize = offsetof(PyVarObject, ob_size);
inline constexpr int kFloat = offsetof(PyFloatObject, ob_fval);
inline constexpr int kListItems = offsetof(PyListObject, ob_item);
inline constexpr int kListRoom = offsetof(PyListObject, allocated);
inline constexpr int kTypeVersion = offsetof(PyTypeObject, tp_version_tag);
inline constexpr int kTypeFlags = offsetof(PyTypeObject, tp_flags);
inline constexpr int kSharedKeys = offsetof(PyHeapTypeObject, ht_cached_keys);
inline constexpr int kBytes = offsetof(PyBytesObject, ob_sval);
inline constexpr int kIntObject = sizeof(PyLongObject);
inline constexpr int kTupleItems = offsetof(PyTupleObject, ob_item);

inline constexpr int kCodeExtra = offsetof(PyCodeObject, co_extra);
inline constexpr int kFunctionCode = offsetof(PyFunctionObject, func_code);
inline constexpr int kFunctionGlobals = offsetof(PyFunctionObject, func_globals);
inline constexpr int kFunctionBuiltins = offsetof(PyFunctionObject, func_builtins);

inline constexpr int kIteratorIndex = offsetof(SequenceIterator, index);
inline constexpr int kIteratorSequence = offsetof(SequenceIterator, sequence);

}  // namespace tagalong::cpython::layout
