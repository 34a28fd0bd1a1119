// Raw access to a code object's fields that have no safe public reader, and the internal constructor, which keeps the
// order and kinds of the local slots as they are and is several times faster than `code.replace()`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// The code units as they are in memory, possibly quickened. PyCode_GetCode is not used on purpose: it writes behind the
// end of its buffer where the inline caches of the last instruction are missing.
std::span<const std::uint16_t> code_units(PyCodeObject* code);

// Makes control that reaches code unit `from` continue at the later unit `to`, as if there were no instructions between
// them. False if the distance is too large. `before` is the unit of the preceding instruction, with which `from` may
// have been fused into a superinstruction.
bool jump_over(PyCodeObject* code, int from, int to, int before);
void write_unit(PyCodeObject* code, int unit, std::uint16_t content);

// Running frames load the exchanged constants from now on as well.
void swap_constants(PyCodeObject* code, std::size_t one, std::size_t other);

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

// What a local slot is. kLocalCell is an argument that an inner function captures.
enum class SlotKind : std::uint8_t { kLocal, kCell, kFree, kLocalCell };
SlotKind slot_kind(PyCodeObject* code, int slot);

// The fields of a code object that a rewritten one takes from its original, for code made from nothing.
struct CodeFields {
  Ref filename;  // str, like `name` and `qualname`
  Ref name;
  Ref qualified_name;
  int flags = 0;
  int first_line = 1;
  int arguments = 0;
  int positional_only = 0;
  int keyword_only = 0;
  Ref slot_names;  // tuple of str
  std::vector<SlotKind> slot_kinds;
};

// A code object without instructions, which becomes the origin of an assembly. Throws PythonError where the numbers of
// arguments and slots do not fit together.
CodeRef make_empty_code(const CodeFields& fields);

// Code that only tagalong runs. All variables are positional-only arguments.
struct InternalCode {
  Ref code;       // bytes
  Ref constants;  // tuple
  Ref names;      // tuple of str
  Ref variables;  // tuple of str
  Ref name;       // str
  int flags = 0;
  int stack_size = 0;
};
// Null with an exception set, also where a field is null.
CodeRef make_internal_code(const InternalCode& fields);

// Whether a local slot (locals, cells, free variables in one numbering) holds a cell.
bool is_cell_slot(PyCodeObject* code, std::uint32_t slot);

}  // namespace tagalong::cpython
