// Instructions that some versions of CPython have, and others express by a function of the interpreter: those of 3.11.
#pragma once

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

namespace op = rewriter::op;

inline constexpr rewriter::RawInstruction kAsyncGenWrap{op::kASYNC_GEN_WRAP, 0};
inline constexpr rewriter::RawInstruction kImportStar{op::kIMPORT_STAR, 0};
inline constexpr rewriter::RawInstruction kPrepareReraiseStar{op::kPREP_RERAISE_STAR, 0};
inline constexpr rewriter::RawInstruction kPrintExpression{op::kPRINT_EXPR, 0};

}  // namespace tagalong::version
