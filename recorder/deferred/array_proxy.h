// While a call is recorded its operations of large arrays are executed as replayed ones are (operations.h).
// Between two hooks it is the interpreter that executes the instruction; so the hook in front of it puts a proxy into
// the place of the operand, or of the function, that is asked first. The proxy executes the operation, inside the
// instruction, and dies with it: whoever looks on (a callback of errstate, a warning, an exception's traceback, a
// finaliser) sees what eager execution shows. Where others may be computed together with it, the result is a proxy,
// too, that waits (deferred_arrays.h).
//
//   prepare_proxy({.frame = frame, .has_proxy = true, .may_defer = true, .shape = shape});   // preparation.h
//   put_proxy(place);                                                  // an operand, on the stack
#pragma once

#include <Python.h>

#include "recorder/deferred/deferred_arrays.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

// The operation that comes next.
struct NextOperation {
  cpython::Frame* frame = nullptr;
  bool has_proxy = false;  // is executed by one
  bool may_defer = false;
  DeferredShape shape = {};
  Ref like = {};             // the result, if it is a number
  PyObject** end = nullptr;  // of the stack below its operands, where a value is stored
};
void prepare_proxy(NextOperation next);
[[nodiscard]] bool is_proxy_prepared();
// Into the place of what is there. False: there is no memory; no exception is set.
bool put_proxy(PyObject** place);

// Whether it is a proxy of an array that waits.
[[nodiscard]] bool is_deferred_array(PyObject* object);
// The object, or, if it is an array that waits, one like it.
[[nodiscard]] PyObject* array_behind(PyObject* object);
// Whether it takes a part of an array, without a copy, and asks nobody.
[[nodiscard]] bool is_plain_key(PyObject* key);

// Computes what waits in the frame; false: exception set. The frame is the current one.
bool force_arrays(const cpython::Frame* frame);
[[nodiscard]] bool has_deferred_arrays(const cpython::Frame* frame);

}  // namespace tagalong::recorder
