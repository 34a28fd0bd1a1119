// Calls of C functions that apply operators to arrays: abs, sum, functools.reduce, the functions of `operator`, and
// objects that call one of these through an iterator or a partial object: next(map(operator.add, ...)). Eager NumPy
// writes results into large operands that have no other owner (arrays/numpy/elision.h), but only if the interpreter is
// directly above NumPy on the C stack. So the interpreter itself makes such a call, in a frame that programs cannot
// see.
#pragma once

#include <Python.h>

#include <span>

namespace tagalong::replay {

// The callable's two slots as on the stack, then the arguments. `keywords`: null, or the names of the last arguments.
// Never sets an exception.
[[nodiscard]] bool may_elide(std::span<PyObject* const> slots, PyObject* keywords);

// The same for `callable(*arguments)` and for the next item of an iterator.
[[nodiscard]] bool may_elide_unpacked(PyObject* callable, PyObject* arguments);
[[nodiscard]] bool may_elide_next(PyObject* iterator);

// Null without an exception: there is no next item. The frame has the function's globals.
[[nodiscard]] PyObject* next_with_elision(PyFunctionObject* function, PyObject* iterator);

// The code of the frame that makes the call, for this number of slots on its stack, the last one given by keyword if
// there are keywords; borrowed. Null with an exception set.
[[nodiscard]] PyCodeObject* eliding_caller(std::size_t slots, PyObject* keywords);

}  // namespace tagalong::replay
