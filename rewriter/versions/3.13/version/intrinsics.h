// Functions of the interpreter that instructions call by number, in CPython 3.13.
#pragma once

#include "rewriter/versions/intrinsic.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

// What an instruction calls that has the number of a function as its argument.
constexpr Intrinsic intrinsic(rewriter::Opcode opcode, std::uint32_t argument) {
  if (opcode == rewriter::op::kCALL_INTRINSIC_2) {
    return argument == 1 ? Intrinsic::kPrepareReraiseStar : Intrinsic::kTypeParameter;
  }
  switch (argument) {
    case 1:
      return Intrinsic::kPrint;
    case 2:
      return Intrinsic::kImportStar;
    case 3:
      return Intrinsic::kStopIterationError;
    case 4:
      return Intrinsic::kAsyncGenWrap;
    case 5:
      return Intrinsic::kUnaryPositive;
    case 6:
      return Intrinsic::kListToTuple;
    default:
      return Intrinsic::kTypeParameter;
  }
}

}  // namespace tagalong::version
