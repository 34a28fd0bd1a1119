// Python's operations on objects as the bytecode does them, one function an instruction. Each returns a new reference,
// or null with an exception set; nothing is stolen.
#pragma once

#include <Python.h>

#include <cstdint>

#include "rewriter/interp/ref.h"

namespace tagalong::replay {

PyObject* binary_operation(int argument, PyObject* left, PyObject* right);
PyObject* unary_operation(int opcode, PyObject* operand);
PyObject* compare(int argument, PyObject* left, PyObject* right);

// LOAD_METHOD: fills two results (function, self) or (null, attribute).
bool load_method(PyObject* object, PyObject* name, PyObject** results);

// CALL with the two callable slots as on the interpreter's stack; `keywords` a tuple of names or null.
PyObject* call(PyObject* const* operands, Py_ssize_t count, PyObject* keywords);

PyObject* make_function(int flags, PyObject* const* operands);

// Whether the property of this name that the object's type has gets (or sets) with this function. Runs nobody's code.
bool accessor_is(PyObject* object, PyObject* name, bool sets, PyObject* function);

// FOR_ITER: null without an exception when exhausted.
PyObject* next_item(PyObject* iterator);

PyObject* format_value(int flags, PyObject* value, PyObject* format);
PyObject* build_slice(PyObject* const* operands, int count);

// Exact numbers: ints, or floats and ints mixed.
PyObject* int_compare(int argument, PyObject* left, PyObject* right);
PyObject* float_compare(int argument, PyObject* left, PyObject* right);
PyObject* float_binary(int argument, PyObject* left, PyObject* right);
// Truth of an exact bool, int, float, str or None.
bool number_truth(PyObject* value);

// The rest of a binary or comparison operator after the first operand's method has answered NotImplemented, for two
// operands of which at least one is an instance of a class made by Python code. `operation` as operator_number() gives.
PyObject* finish_operator(int operation, PyObject* left, PyObject* right);
enum class OperatorKind : std::uint8_t { kBinary, kReflected, kCompare };
int operator_number(OperatorKind kind, int argument);
// Name of the special method: "__add__", "__radd__", "__iadd__", "__lt__".
const char* operator_method(OperatorKind kind, int argument);

// What guard_function checks: the code (original or derived from it) and the shape of the defaults.
bool function_matches(PyObject* value, PyObject* code);

}  // namespace tagalong::replay
