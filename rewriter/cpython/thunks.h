// A thunk executes one bytecode instruction on given operands, in the interpreter itself: for instructions whose exact
// behaviour (texts of errors, order of look-ups) exists only there. Its frame is never complete in CPython's sense, so
// programs do not see it.
#pragma once

#include <Python.h>

#include <string_view>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

struct Instruction {
  int opcode;
  int argument;
};

// A code object that takes `operands` positional arguments, executes the instructions and returns the top of the stack.
// `names` is its co_names, or null. Null with an exception set.
CodeRef make_thunk(int operands, const std::vector<Instruction>& instructions, PyObject* names);
// The same for instructions that use the mapping of a frame's variables: their operands are on the stack. `constants`
// becomes co_consts; it may be null.
CodeRef make_namespace_thunk(const std::vector<Instruction>& instructions, PyObject* names,
                             PyObject* constants = nullptr);
// Runs such a thunk with the globals and builtins of a function. A new reference, or null with an exception set.
PyObject* run_namespace_thunk(PyCodeObject* thunk, PyFunctionObject* function, PyObject* mapping,
                              PyObject* const* operands, int count);

// LOAD_FAST of each operand, in order.
std::vector<Instruction> load_operands(int count);

}  // namespace tagalong::cpython
