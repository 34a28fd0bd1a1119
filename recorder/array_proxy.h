// While a call is recorded its operations of large arrays are executed as replayed ones are (array_operations.h).
// Between two hooks it is the interpreter that executes the instruction; so the hook in front of it puts a proxy into
// the place of the operand, or of the function, that is asked first. The proxy executes the operation, inside the
// instruction, and dies with it: whoever looks on (a callback of errstate, a warning, an exception's traceback, a
// finaliser) sees what eager execution shows. Where the next operation takes the result, a proxy that waits to be
// computed with that (array_expression.h) is the result.
//
//   put_array_proxy(instruction, has_keywords, end_of_stack, {frame, may_wait});   // in front of an operator or a CALL
#pragma once

#include <Python.h>

#include <cstdint>

#include "rewriter/code.h"
#include "rewriter/interp/frames.h"

namespace tagalong::recorder {

// Operations of arrays of fewer bytes do not wait: to plan a region takes longer than they do.
inline constexpr long kWorthWaiting = 384L << 10U;
extern long worth_waiting;

// Whether there may be something to do in front of this opcode.
[[nodiscard]] bool may_have_array_proxy(std::uint8_t opcode);

struct ArrayPlace {
  interp::Frame* frame;
  bool may_wait;
};
// Does nothing where the operands are no large arrays and numbers. No exception is set; false: one is then, raised by
// an operation that has waited.
bool put_array_proxy(const rewriter::Instruction& instruction, bool has_keywords, PyObject** end,
                     const ArrayPlace& place);

// Computes what waits on the frame's stack; false: exception set. The frame is the current one.
bool settle_arrays(const interp::Frame* frame);
[[nodiscard]] bool has_waiting_arrays(const interp::Frame* frame);
// Whether an instruction that loads, the end of the stack in front of it being there, runs no code of anybody's.
[[nodiscard]] bool is_quiet_load(const rewriter::Instruction& instruction, PyObject* name, PyObject* const* end);
// The object, or, if it is an array that waits, one like it.
[[nodiscard]] PyObject* array_behind(PyObject* object);

}  // namespace tagalong::recorder
