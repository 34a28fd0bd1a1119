// The stub that finds out about a function's first call, in the bytecode of CPython 3.13 (cpython/first_call.h).
#pragma once

#include <Python.h>

#include <array>

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

inline constexpr int kAsking = 5;  // code units that call C and go on with the original instructions if it says so
inline constexpr int kFirstCallStub = 11;
// The slot of the constant's type that is called: conditional jumps want exact bools.
inline constexpr int kAskingSlot = Py_nb_negative;

// The last two constants, from number `constant` on, are the object that is asked and the function that changes the
// frame.
inline std::array<rewriter::CodeUnit, kFirstCallStub> first_call_stub(int constant) {
  namespace op = rewriter::op;
  using rewriter::code_unit;
  return {code_unit({op::kLOAD_CONST, constant}),
          code_unit({op::kUNARY_NEGATIVE, 0}),
          code_unit({op::kPOP_JUMP_IF_TRUE, 1}),
          0,
          code_unit({op::kJUMP_BACKWARD_NO_INTERRUPT, kAsking}),
          code_unit({op::kLOAD_CONST, constant + 1}),
          code_unit({op::kPUSH_NULL, 0}),
          code_unit({op::kCALL, 0})};
}

}  // namespace tagalong::version
