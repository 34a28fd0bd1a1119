// While a call is recorded its operations of large arrays are executed as replayed ones are
// (replay/array/ufunc_site.h): by NumPy's loops, in memory that earlier results have left, by several threads. Between
// two hooks it is the interpreter that executes the instruction; so the hook in front of it puts a proxy into the place
// of the operand, or of the function, that is asked first. The proxy executes the operation, inside the instruction,
// and dies with it: whoever looks on (a callback of errstate, a warning, an exception's traceback, a finaliser) sees
// what eager execution shows.
//
//   put_array_proxy(instruction, has_keywords, end_of_stack);   // in front of an operator or a CALL
#pragma once

#include <Python.h>

#include "replay/array/tally.h"
#include "rewriter/code.h"

namespace tagalong::recorder {

// Whether there may be something to do in front of this opcode.
[[nodiscard]] bool may_have_array_proxy(std::uint8_t opcode);

// Does nothing where the operands are no large arrays and numbers. No exception is set.
void put_array_proxy(const rewriter::Instruction& instruction, bool has_keywords, PyObject** end);

extern array::LoopTally proxy_tally;  // operations that proxies have executed as replays do, or left to NumPy

}  // namespace tagalong::recorder
