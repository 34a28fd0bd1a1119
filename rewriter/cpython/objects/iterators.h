// Iterators of the interpreter's own types, advanced in place.
//
//   if (Py_TYPE(iterator) == &PyRangeIter_Type && next_of_range(iterator, &item)) ...
#pragma once

#include <Python.h>

#include <cstdint>

#include "version/objects.h"

namespace tagalong::cpython {

// A range beyond long has another type.
using version::RangeIterator;

// False when exhausted; the iterator is not changed then.
inline bool next_of_range(PyObject* iterator, std::int64_t* item) {
  auto* range = reinterpret_cast<RangeIterator*>(iterator);
  if (!version::has_next(range)) {
    return false;
  }
  *item = version::next(range);
  return true;
}

// An iterator of `length` ints beginning with `start`. Null: out of memory.
inline PyObject* new_range_iterator(std::int64_t start, std::int64_t length) {
  RangeIterator* made = PyObject_New(RangeIterator, &PyRangeIter_Type);
  if (made == nullptr) {
    return nullptr;
  }
  version::reset(made);
  made->start = start;
  made->step = 1;
  made->len = length;
  return reinterpret_cast<PyObject*>(made);
}

// As listobject.c, tupleobject.c, bytesobject.c and iterobject.c (PySeqIter_Type) have them.
struct SequenceIterator {
  PyObject ob_base;
  Py_ssize_t index;
  PyObject* sequence;  // null when exhausted
};

inline bool is_sequence_iterator(PyObject* iterator) {
  return Py_TYPE(iterator) == &PyListIter_Type || Py_TYPE(iterator) == &PyTupleIter_Type;
}

// The sequence that the iterator goes through; null if it is exhausted.
inline PyObject* iterated(PyObject* iterator) { return reinterpret_cast<SequenceIterator*>(iterator)->sequence; }

// Laid out as in enumobject.c: an iterator that counts the items of another one.
struct Enumeration {
  PyObject ob_base;
  Py_ssize_t index;
  PyObject* inner;
  PyObject* result;  // a tuple that is used again if it has no other owner
};

// Laid out as the iterators of dicts in dictobject.c.
struct DictIterator {
  PyObject ob_base;
  PyObject* dict;  // null when exhausted
  Py_ssize_t used, place;
  PyObject* result;  // used again like `Enumeration::result`; null if the items are not pairs
};

// Whether an iterator of a list, tuple or range certainly has another item.
inline bool has_next(PyObject* iterator) {
  if (Py_TYPE(iterator) == &PyRangeIter_Type) {
    const auto* range = reinterpret_cast<RangeIterator*>(iterator);
    return version::has_next(range);
  }
  if (!is_sequence_iterator(iterator)) {
    return false;
  }
  const auto* state = reinterpret_cast<SequenceIterator*>(iterator);
  return state->sequence != nullptr && state->index < Py_SIZE(state->sequence);
}

// An iterator over an object whose deallocation runs no user code: advancing it runs no user code, not even at the end.
inline bool is_text_iterator(PyObject* iterator) {
  return Py_TYPE(iterator) == &PyBytesIter_Type || Py_TYPE(iterator) == &PyUnicodeIter_Type;
}

// Whether the iterator is certainly exhausted.
inline bool is_used_up(PyObject* iterator) {
  return Py_TYPE(iterator) == &PyRangeIter_Type ||
         (is_sequence_iterator(iterator) && reinterpret_cast<SequenceIterator*>(iterator)->sequence == nullptr);
}

// The next item of a list or tuple iterator, a new reference. Null: there is none; tp_iternext must still be called,
// which marks the iterator as exhausted and releases the sequence.
inline PyObject* next_of_sequence(PyObject* iterator) {
  auto* state = reinterpret_cast<SequenceIterator*>(iterator);
  PyObject* sequence = state->sequence;
  if (sequence == nullptr || state->index >= Py_SIZE(sequence)) {
    return nullptr;
  }
  const Py_ssize_t index = state->index++;
  return Py_NewRef(PyList_Check(sequence) ? PyList_GET_ITEM(sequence, index) : PyTuple_GET_ITEM(sequence, index));
}

}  // namespace tagalong::cpython
