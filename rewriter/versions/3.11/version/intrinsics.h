// Functions of the interpreter that instructions call by number: CPython 3.11 has none.
#pragma once

#include "rewriter/versions/intrinsic.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

constexpr Intrinsic intrinsic(rewriter::Opcode /*opcode*/, std::uint32_t /*argument*/) {
  return Intrinsic::kTypeParameter;
}

}  // namespace tagalong::version
