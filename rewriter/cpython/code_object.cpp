#include "rewriter/cpython/code_object.h"

#include <opcode.h>

#include <climits>
#include <cstdint>
#include <string>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/frames.h"
#include "version/code.h"

namespace tagalong::cpython {

std::span<const std::uint16_t> code_units(PyCodeObject* code) {
  return {units_of(code), static_cast<std::size_t>(Py_SIZE(code))};
}

bool jump_over(PyCodeObject* code, int from, int to, [[maybe_unused]] int before) {
  const int distance = to - from - 1;
  if (distance < 0 || distance > UINT8_MAX) {
    return false;
  }
#ifdef LOAD_FAST__LOAD_CONST  // some versions execute two instructions as one
  const CodeUnit in_front = units_of(code)[before];
  if (before + 1 == from && rewriter::opcode_in(in_front) == LOAD_FAST__LOAD_CONST) {
    write_unit(code, before, rewriter::code_unit({LOAD_FAST, rewriter::argument_in(in_front)}));
  }
#endif
  write_unit(code, from, rewriter::code_unit({JUMP_FORWARD, distance}));
  return true;
}

void write_unit(PyCodeObject* code, int unit, std::uint16_t content) { units_of(code)[unit] = content; }

void swap_constants(PyCodeObject* code, std::size_t one, std::size_t other) {
  PyObject** constants = reinterpret_cast<PyTupleObject*>(code->co_consts)->ob_item;
  std::swap(constants[one], constants[other]);
}

CodeRef make_code(PyCodeObject* original, const CodeParts& parts) {
  version::CodeFields constructor{};
  constructor.filename = original->co_filename;
  constructor.name = original->co_name;
  constructor.qualname = original->co_qualname;
  constructor.flags = original->co_flags;
  constructor.code = parts.code.get();
  constructor.firstlineno = original->co_firstlineno;
  constructor.linetable = parts.line_table.get();
  constructor.consts = parts.constants.get();
  constructor.names = parts.names.get();
  constructor.localsplusnames = original->co_localsplusnames;
  constructor.localspluskinds = original->co_localspluskinds;
  constructor.argcount = original->co_argcount;
  constructor.posonlyargcount = original->co_posonlyargcount;
  constructor.kwonlyargcount = original->co_kwonlyargcount;
  constructor.stacksize = parts.stack_size;
  constructor.exceptiontable = parts.exception_table.get();
  CodeRef code = CodeRef::steal(version::new_code(&constructor));
  if (!code) {
    throw PythonError();
  }
  return code;
}

int stack_size_limit(PyCodeObject* code) {
  // The frame is allocated as one piece: locals, the frame's own fields (fewer than 64 words) and the stack.
  return INT_MAX / static_cast<int>(sizeof(PyObject*)) - code->co_nlocalsplus - 64;
}

namespace {

_PyLocals_Kind kind_bits(SlotKind kind) {
  switch (kind) {
    case SlotKind::kLocal:
      return CO_FAST_LOCAL;
    case SlotKind::kCell:
      return CO_FAST_CELL;
    case SlotKind::kFree:
      return CO_FAST_FREE;
    case SlotKind::kLocalCell:
      break;
  }
  return CO_FAST_LOCAL | CO_FAST_CELL;
}

Ref checked(PyObject* object) {
  if (object == nullptr) {
    throw PythonError();
  }
  return Ref::steal(object);
}

}  // namespace

SlotKind slot_kind(PyCodeObject* code, int slot) {
  const _PyLocals_Kind kind = _PyLocals_GetKind(code->co_localspluskinds, slot);
  if ((kind & CO_FAST_FREE) != 0) {
    return SlotKind::kFree;
  }
  if ((kind & CO_FAST_CELL) != 0) {
    return (kind & CO_FAST_LOCAL) != 0 ? SlotKind::kLocalCell : SlotKind::kCell;
  }
  return SlotKind::kLocal;
}

CodeRef make_empty_code(const CodeFields& fields) {
  const Ref no_bytes = checked(PyBytes_FromStringAndSize(nullptr, 0));
  const Ref no_items = checked(PyTuple_New(0));
  std::string kinds;
  for (const SlotKind kind : fields.slot_kinds) {
    kinds.push_back(static_cast<char>(kind_bits(kind)));
  }
  const Ref kind_bytes = checked(PyBytes_FromStringAndSize(kinds.data(), static_cast<Py_ssize_t>(kinds.size())));
  version::CodeFields constructor{};
  constructor.filename = fields.filename.get();
  constructor.name = fields.name.get();
  constructor.qualname = fields.qualified_name.get();
  constructor.flags = fields.flags;
  constructor.code = no_bytes.get();
  constructor.firstlineno = fields.first_line;
  constructor.linetable = no_bytes.get();
  constructor.consts = no_items.get();
  constructor.names = no_items.get();
  constructor.localsplusnames = fields.slot_names.get();
  constructor.localspluskinds = kind_bytes.get();
  constructor.argcount = fields.arguments;
  constructor.posonlyargcount = fields.positional_only;
  constructor.kwonlyargcount = fields.keyword_only;
  constructor.exceptiontable = no_bytes.get();
  if (!version::is_valid(&constructor)) {
    throw PythonError();
  }
  CodeRef code = CodeRef::steal(version::new_code(&constructor));
  if (!code) {
    throw PythonError();
  }
  return code;
}

CodeRef make_internal_code(const InternalCode& fields) {
  if (!fields.code || !fields.constants || !fields.names || !fields.variables || !fields.name) {
    return {};
  }
  const Py_ssize_t variables = PyTuple_GET_SIZE(fields.variables.get());
  const std::string kinds(static_cast<std::size_t>(variables), static_cast<char>(CO_FAST_LOCAL));
  const Ref kind_bytes = Ref::steal(PyBytes_FromStringAndSize(kinds.data(), variables));
  const Ref no_bytes = Ref::steal(PyBytes_FromStringAndSize(nullptr, 0));
  const Ref filename = Ref::create(internal_filename());
  if (!kind_bytes || !no_bytes || !filename) {
    return {};
  }
  version::CodeFields constructor{};
  constructor.filename = filename.get();
  constructor.name = fields.name.get();
  constructor.qualname = fields.name.get();
  constructor.flags = fields.flags;
  constructor.code = fields.code.get();
  constructor.firstlineno = 1;
  constructor.linetable = no_bytes.get();
  constructor.consts = fields.constants.get();
  constructor.names = fields.names.get();
  constructor.localsplusnames = fields.variables.get();
  constructor.localspluskinds = kind_bytes.get();
  constructor.argcount = static_cast<int>(variables);
  constructor.posonlyargcount = static_cast<int>(variables);
  constructor.stacksize = fields.stack_size;
  constructor.exceptiontable = no_bytes.get();
  return CodeRef::steal(version::new_code(&constructor));
}

bool is_cell_slot(PyCodeObject* code, std::uint32_t slot) {
  if (slot >= static_cast<std::uint32_t>(code->co_nlocalsplus) ||
      slot >= static_cast<std::uint32_t>(PyBytes_GET_SIZE(code->co_localspluskinds))) {
    return false;
  }
  const _PyLocals_Kind kind = _PyLocals_GetKind(code->co_localspluskinds, static_cast<int>(slot));
  return (kind & (CO_FAST_CELL | CO_FAST_FREE)) != 0;
}

}  // namespace tagalong::cpython
