// Calls of C functions that apply operators to arrays they are handed: abs, sum, functools.reduce, the functions of
// `operator`, and whatever comes to one of these by an iterator or a partial object: next(map(operator.add, …)). Eager
// NumPy computes into large operands that nobody else holds (arrays/numpy/elision.h), but only where nothing stands
// between it and the interpreter on the C stack. So such a call is made by the interpreter itself, in a frame that
// nobody sees.
#pragma once

#include <Python.h>

#include <span>

namespace tagalong::replay {

// The callable's two slots as on the stack, then the arguments. `keywords`: null, or the names of the last ones. Never
// has an exception set.
[[nodiscard]] bool may_elide(std::span<PyObject* const> slots, PyObject* keywords);

// The same for `callable(*arguments)` and for the next item of an iterator.
[[nodiscard]] bool may_elide_unpacked(PyObject* callable, PyObject* arguments);
[[nodiscard]] bool may_elide_next(PyObject* iterator);

// Null without an exception: there is none. The frame has the function's globals.
[[nodiscard]] PyObject* next_eliding(PyFunctionObject* function, PyObject* iterator);

// The code of the frame that makes the call, with so many slots on its stack, the last one by keyword if there is any;
// borrowed. Null with an exception set.
[[nodiscard]] PyCodeObject* eliding_caller(std::size_t slots, PyObject* keywords);

}  // namespace tagalong::replay
