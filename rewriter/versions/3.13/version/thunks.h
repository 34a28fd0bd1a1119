// Instructions that some versions of CPython have, and others express by a function of the interpreter: those of 3.13.
#pragma once

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

namespace op = rewriter::op;

inline constexpr rewriter::RawInstruction kAsyncGenWrap{op::kCALL_INTRINSIC_1, 4};
inline constexpr rewriter::RawInstruction kImportStar{op::kCALL_INTRINSIC_1, 2};
inline constexpr rewriter::RawInstruction kPrepareReraiseStar{op::kCALL_INTRINSIC_2, 1};
inline constexpr rewriter::RawInstruction kPrintExpression{op::kCALL_INTRINSIC_1, 1};

}  // namespace tagalong::version
