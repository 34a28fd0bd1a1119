// A code object, and the code objects among its constants, as text in the manner of `dis`. The text is complete:
// assemble() makes the same code from it. Grammar (docs/how-to/rewriter.md has an example):
//
//   code NUMBER NAME
//     qualname NAME  file 'PATH'  first_line N  arguments N  positional_only N  keyword_only N  stack N   (one a line)
//     flags WORD...  slots NAME[:cell|:free|:local+cell]...  names NAME...
//     constant NUMBER LITERAL | code NUMBER | object 'REPR'
//     [LINE] [>>] LABEL OPCODE [ARGUMENT | to LABEL] [wide N] [(what it means)] [@ POSITION]
//     except LABEL until LABEL goes to LABEL depth N [lasti]
//
// LABELs are byte offsets in a listing, and any distinct numbers for the assembler; `end` is the label behind the last
// instruction. POSITION is LINE:COLUMN-LINE:COLUMN, with ? for unknown numbers, or none.
#pragma once

#include <string>
#include <string_view>

#include "rewriter/code.h"

namespace tagalong::rewriter {

// Throws RewriteError for malformed code.
std::string disassemble(PyCodeObject* code);

// `objects`: a mapping from REPR to the object, for constants that have no literal; may be empty. Throws RewriteError,
// which names the line of text, or PythonError. An instruction without a position gets the line number at its left, or
// that of the previous instruction, and no columns.
CodeRef assemble(std::string_view text, Borrowed objects);

}  // namespace tagalong::rewriter
