// While a call is recorded, its operations of large arrays are executed as replayed ones are (operations.h). The
// interpreter executes the instruction between two hooks; so the hook in front of it replaces the operand, or the
// function, that the interpreter dispatches on first by a proxy. The proxy executes the operation inside the
// instruction and dies with it, so a callback of errstate, a warning, a traceback or a finaliser sees what eager
// execution shows. Where later operations may be computed together with this one, the result is a proxy, too: a
// deferred array (deferred_arrays.h).
//
//   prepare_proxy({.frame = frame, .has_proxy = true, .may_defer = true, .shape = shape});   // preparation.h
//   put_proxy(place);                                                  // an operand, on the stack
#pragma once

#include <Python.h>

#include "recorder/deferred/deferred_arrays.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

// The array operation that the interpreter executes next.
struct NextOperation {
  cpython::Frame* frame = nullptr;
  bool has_proxy = false;  // a proxy executes the operation
  bool may_defer = false;
  DeferredShape shape = {};
  Ref like = {};             // an object of the result's type if the result is a number; otherwise empty
  PyObject** end = nullptr;  // end of the stack below the operands, where a value is stored
};
void prepare_proxy(NextOperation next);
[[nodiscard]] bool is_proxy_prepared();
// Replaces the object at this stack slot by a proxy of it. False: there is no memory; no exception is set.
bool put_proxy(PyObject** place);

// Whether the object is the proxy of a deferred array.
[[nodiscard]] bool is_deferred_array(PyObject* object);
// For a deferred array an array of the same kind, otherwise the object itself.
[[nodiscard]] PyObject* array_behind(PyObject* object);
// Whether the key selects a part of an array without a copy and without running code of the program.
[[nodiscard]] bool is_plain_key(PyObject* key);

// Forces the deferred arrays of the frame, which is the current one. False: an exception is set.
bool force_arrays(const cpython::Frame* frame);
[[nodiscard]] bool has_deferred_arrays(const cpython::Frame* frame);

}  // namespace tagalong::recorder
