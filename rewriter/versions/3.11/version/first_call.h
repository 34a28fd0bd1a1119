// The stub that finds out about a function's first call, in the bytecode of CPython 3.11 (cpython/first_call.h).
#pragma once

#include <Python.h>

#include <array>

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

inline constexpr int kAsking = 2;  // code units that call C and go on with the original instructions if it says so
inline constexpr int kFirstCallStub = 5;
// The instruction that asks jumps to the original instructions if no other code is to run.
inline constexpr bool kAskingJumps = true;
inline constexpr int kShortestStub = kAsking;
inline constexpr int kAskingSlot = Py_nb_bool;  // the slot of the constant's type that is called

// The last two constants, from number `constant` on, are the object that is asked and the function that changes the
// frame.
inline std::array<rewriter::CodeUnit, kFirstCallStub> first_call_stub(int constant) {
  namespace op = rewriter::op;
  using rewriter::code_unit;
  return {code_unit({op::kLOAD_CONST, constant}), code_unit({op::kPOP_JUMP_BACKWARD_IF_FALSE, kAsking}),
          code_unit({op::kPUSH_NULL, 0}), code_unit({op::kLOAD_CONST, constant + 1}), code_unit({op::kCALL, 0})};
}

}  // namespace tagalong::version
