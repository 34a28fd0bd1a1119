// The stub that finds out about a function's first call, in the bytecode of CPython 3.13 (cpython/first_call.h).
#pragma once

#include <Python.h>

#include <array>

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

inline constexpr int kFirstCallStub = 5;
// No conditional jump calls C here. So an operator asks, and its result, a function, redirects the frame in any case.
inline constexpr bool kAskingJumps = false;
inline constexpr int kAsking = 2;  // code units that ask
inline constexpr int kShortestStub = kFirstCallStub;
inline constexpr int kAskingSlot = Py_nb_negative;  // the slot of the constant's type that is called

// The constant with the number `constant` is the object that is asked.
inline std::array<rewriter::CodeUnit, kFirstCallStub> first_call_stub(int constant) {
  namespace op = rewriter::op;
  using rewriter::code_unit;
  // The counter of the inline cache is so high that the interpreter never specialises the call, which would write to
  // the code units behind it.
  constexpr rewriter::CodeUnit kCounter = 0xFFF0;
  return {code_unit({op::kLOAD_CONST, constant}), code_unit({op::kUNARY_NEGATIVE, 0}), code_unit({op::kPUSH_NULL, 0}),
          code_unit({op::kCALL, 0}), kCounter};
}

}  // namespace tagalong::version
