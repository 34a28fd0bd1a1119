// Code objects and values for the rewriter's tests, made by the interpreter itself.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter::testing {

// The value of an expression, after the statements of `setup`.
Ref evaluate(const std::string& expression, const std::string& setup = "");
long integer(const std::string& expression, const std::string& setup = "");

// The code object of the function `f` that the source defines.
CodeRef function_code(const std::string& source);

// Calls a function made of this code, with the builtins as globals; returns the repr of the result or the exception.
std::string call(const CodeRef& code, const std::vector<Ref>& arguments = {});

std::string bytes_of(PyObject* bytes);
std::string code_bytes(const CodeRef& code);
// Compares every table that a round trip must not change.
bool same_tables(const CodeRef& left, const CodeRef& right);

// The one of these opcodes that this version has.
Opcode known_of(std::initializer_list<Opcode> opcodes);
inline Opcode jump_if_false() { return known_of({op::kPOP_JUMP_FORWARD_IF_FALSE, op::kPOP_JUMP_IF_FALSE}); }
inline Opcode jump_if_true() { return known_of({op::kPOP_JUMP_FORWARD_IF_TRUE, op::kPOP_JUMP_IF_TRUE}); }

// Index of the n-th instruction with this opcode; fails the test if there is none.
int find(const Assembly& assembly, Opcode opcode, int n = 0);

}  // namespace tagalong::rewriter::testing
