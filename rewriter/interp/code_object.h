// Raw access to a code object's fields that have no safe public reader, and the internal constructor, which keeps the
// order and kinds of the local slots as they are and is several times faster than `code.replace()`.
#pragma once

#include <cstdint>
#include <span>

#include "rewriter/interp/ref.h"

namespace tagalong::interp {

// The code units as they are in memory, possibly quickened. PyCode_GetCode is not used on purpose: it writes behind the
// end of its buffer where the inline caches of the last instruction are missing.
std::span<const std::uint16_t> code_units(PyCodeObject* code);

// What a rewritten code object takes from its assembly; everything else comes from the original.
struct CodeParts {
  Ref code;             // bytes
  Ref exception_table;  // bytes
  Ref line_table;       // bytes
  Ref constants;        // tuple
  Ref names;            // tuple of str
  int stack_size = 0;
};

// Throws PythonError.
CodeRef make_code(PyCodeObject* original, const CodeParts& parts);

// Largest stack a code object with these local slots may ask for.
int stack_size_limit(PyCodeObject* code);

// Whether a local slot (locals, cells, free variables in one numbering) holds a cell.
bool is_cell_slot(PyCodeObject* code, std::uint32_t slot);

}  // namespace tagalong::interp
