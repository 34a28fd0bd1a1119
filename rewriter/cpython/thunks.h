// A thunk executes one bytecode instruction on given operands, in the interpreter itself: for instructions whose exact
// behaviour (texts of errors, order of look-ups) exists only there. Its frame is never complete in CPython's sense, so
// programs do not see it.
#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::cpython {

namespace op = rewriter::op;

using Instruction = rewriter::RawInstruction;

// Appends the instruction to bytecode, with its EXTENDED_ARGs and empty caches.
void append_instruction(std::string* bytes, const Instruction& instruction);

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
// A call of what is on the stack: null and the callable, in this version's order, and so many arguments. The names of
// keyword arguments are constant 0.
std::vector<Instruction> call_operands(int arguments, bool has_names);
// The next item of the iterator that is on the stack; without one, constant 0.
std::vector<Instruction> next_item();

}  // namespace tagalong::cpython
