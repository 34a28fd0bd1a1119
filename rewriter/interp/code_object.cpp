#define Py_BUILD_CORE 1

#include "rewriter/interp/code_object.h"

#include "rewriter/interp/errors.h"

extern "C" {
#include <internal/pycore_code.h>
}

#include <climits>

namespace tagalong::interp {

std::span<const std::uint16_t> code_units(PyCodeObject* code) {
  return {_PyCode_CODE(code), static_cast<std::size_t>(Py_SIZE(code))};
}

CodeRef make_code(PyCodeObject* original, const CodeParts& parts) {
  _PyCodeConstructor constructor{};
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
  CodeRef code = CodeRef::steal(_PyCode_New(&constructor));
  if (!code) {
    throw PythonError();
  }
  return code;
}

int stack_size_limit(PyCodeObject* code) {
  // The frame is allocated as one piece: locals, the frame's own fields (fewer than 64 words) and the stack.
  return static_cast<int>(INT_MAX / static_cast<int>(sizeof(PyObject*))) - code->co_nlocalsplus - 64;
}

bool is_cell_slot(PyCodeObject* code, std::uint32_t slot) {
  if (slot >= static_cast<std::uint32_t>(code->co_nlocalsplus) ||
      slot >= static_cast<std::uint32_t>(PyBytes_GET_SIZE(code->co_localspluskinds))) {
    return false;
  }
  const _PyLocals_Kind kind = _PyLocals_GetKind(code->co_localspluskinds, static_cast<int>(slot));
  return (kind & (CO_FAST_CELL | CO_FAST_FREE)) != 0;
}

}  // namespace tagalong::interp
