// Python's operations on objects as the bytecode executes them, one function for each instruction. Each returns a new
// reference, or null with an exception set; no reference is stolen.
#pragma once

#include <Python.h>

#include <cstdint>

#include "replay/ir/operators.h"
#include "rewriter/base/ref.h"

namespace tagalong::replay {

PyObject* binary_operation(int argument, PyObject* left, PyObject* right);
// Whether the operation on exact numbers may take so long that signal handlers interrupt it.
bool may_take_long(int argument, PyObject* left, PyObject* right);
PyObject* unary_operation(UnaryOperator op, PyObject* operand);
PyObject* compare(int argument, PyObject* left, PyObject* right);

// LOAD_METHOD: fills two results (function, self) or (null, attribute).
bool load_method(PyObject* object, PyObject* name, PyObject** results);

// CALL with the two callable slots as on the interpreter's stack; `keywords` is a tuple of names or null.
PyObject* call(PyObject* const* operands, Py_ssize_t count, PyObject* keywords);

PyObject* make_function(int flags, PyObject* const* operands);
// `flag`: one of those. The function has no such attribute yet.
void set_function_attribute(int flag, PyObject* function, PyObject* value);

// Whether the property of the object's type with this name has this function as its getter (1: setter, 2: deleter).
// Runs no user code.
bool accessor_is(PyObject* object, PyObject* name, int part, PyObject* function);

// Whether the object is a dict with exactly these keys, in this order.
bool has_keywords(PyObject* object, PyObject* names);

// FOR_ITER: null without an exception when exhausted.
PyObject* next_item(PyObject* iterator);

PyObject* format_value(int flags, PyObject* value, PyObject* format);
PyObject* convert_value(int flags, PyObject* value);
PyObject* build_slice(PyObject* const* operands, int count);

// Exact numbers: ints, or floats and ints mixed.
PyObject* int_compare(int argument, PyObject* left, PyObject* right);
PyObject* float_compare(int argument, PyObject* left, PyObject* right);
PyObject* float_binary(int argument, PyObject* left, PyObject* right);
// The truth of an exact bool, int, float, str or None.
bool number_truth(PyObject* value);

// The check of guard_function: the code (the original or one derived from it) and the shape of the defaults.
bool function_matches(PyObject* value, PyObject* code);

}  // namespace tagalong::replay
