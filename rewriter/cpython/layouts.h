// Offsets, in bytes, of the fields of the interpreter's objects that machine code reads and writes: for one version.
#pragma once

#include <Python.h>

#include <cstddef>

#include "rewriter/cpython/objects/iterators.h"
#include "version/frames.h"

namespace tagalong::cpython::layout {

inline constexpr int kCount = offsetof(PyObject, ob_refcnt);
inline constexpr int kType = offsetof(PyObject, ob_type);
inline constexpr int kSize = offsetof(PyVarObject, ob_size);
inline constexpr int kFloat = offsetof(PyFloatObject, ob_fval);
// The number of digits has the sign of the int.
inline constexpr int kDigits = offsetof(PyLongObject, ob_digit);
inline constexpr int kDigitSize = sizeof(digit);  // in bytes; each digit has PyLong_SHIFT bits
inline constexpr int kListItems = offsetof(PyListObject, ob_item);
inline constexpr int kListRoom = offsetof(PyListObject, allocated);
inline constexpr int kTypeVersion = offsetof(PyTypeObject, tp_version_tag);
inline constexpr int kTypeFlags = offsetof(PyTypeObject, tp_flags);
inline constexpr int kSharedKeys = offsetof(PyHeapTypeObject, ht_cached_keys);
// Offset of the pointer that values_of() reads.
inline constexpr int kValuesBefore = -4 * static_cast<int>(sizeof(PyObject*));
inline constexpr int kBytes = offsetof(PyBytesObject, ob_sval);
inline constexpr int kIntObject = sizeof(PyLongObject);
inline constexpr int kTupleItems = offsetof(PyTupleObject, ob_item);

inline constexpr int kCodeExtra = offsetof(PyCodeObject, co_extra);
inline constexpr int kFunctionCode = offsetof(PyFunctionObject, func_code);
inline constexpr int kFunctionGlobals = offsetof(PyFunctionObject, func_globals);
inline constexpr int kFunctionBuiltins = offsetof(PyFunctionObject, func_builtins);
inline constexpr int kDictVersion = offsetof(PyDictObject, ma_version_tag);

inline constexpr int kRangeIndex = offsetof(RangeIterator, index);
inline constexpr int kRangeStart = offsetof(RangeIterator, start);
inline constexpr int kRangeStep = offsetof(RangeIterator, step);
inline constexpr int kRangeLength = offsetof(RangeIterator, len);
inline constexpr int kIteratorIndex = offsetof(SequenceIterator, index);
inline constexpr int kIteratorSequence = offsetof(SequenceIterator, sequence);

// Thread::cframe->use_tracing says whether the thread is watched.
inline constexpr int kThreadCFrame = offsetof(PyThreadState, cframe);
inline constexpr int kUseTracing = offsetof(_PyCFrame, use_tracing);

}  // namespace tagalong::cpython::layout
