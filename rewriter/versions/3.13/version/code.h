// Code objects of CPython 3.13: making them, and fields that have no public reader.
#pragma once

#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
#include <internal/pycore_code.h>
#undef Py_BUILD_CORE

#include <opcode.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "rewriter/base/ref.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

// What a code object is made of; all objects are borrowed.
using CodeFields = _PyCodeConstructor;

// Whether the numbers of arguments and slots fit together; false with an exception set.
inline bool is_valid(CodeFields* fields) {
  const Py_ssize_t slots = PyTuple_GET_SIZE(fields->localsplusnames);
  Py_ssize_t locals = 0;
  for (Py_ssize_t slot = 0; slot < slots; ++slot) {
    locals += (PyBytes_AS_STRING(fields->localspluskinds)[slot] & CO_FAST_LOCAL) != 0 ? 1 : 0;
  }
  const int arguments = fields->argcount + fields->kwonlyargcount + ((fields->flags & CO_VARARGS) != 0 ? 1 : 0) +
                        ((fields->flags & CO_VARKEYWORDS) != 0 ? 1 : 0);
  if (fields->argcount < fields->posonlyargcount || fields->posonlyargcount < 0 || fields->kwonlyargcount < 0 ||
      fields->stacksize < 0 || fields->flags < 0) {
    PyErr_SetString(PyExc_ValueError, "code: the numbers of arguments do not fit together");
    return false;
  }
  if (arguments > locals) {
    PyErr_SetString(PyExc_ValueError, "code: varnames is too small");
    return false;
  }
  return true;
}

// Null with an exception set. The public constructor knows nothing of hidden slots, so it makes a code object with
// plain local slots, which then get their names and kinds.
inline PyCodeObject* new_code(CodeFields* fields) {
  const Ref no_names = Ref::steal(PyTuple_New(0));
  const Ref no_bytes = Ref::steal(PyBytes_FromStringAndSize("", 0));
  if (!no_names || !no_bytes) {
    return nullptr;
  }
  const auto slots = static_cast<int>(PyTuple_GET_SIZE(fields->localsplusnames));
  PyCodeObject* code = PyUnstable_Code_NewWithPosOnlyArgs(
      fields->argcount, fields->posonlyargcount, fields->kwonlyargcount, slots, fields->stacksize, fields->flags,
      fields->code, fields->consts, fields->names, fields->localsplusnames, no_names.get(), no_names.get(),
      fields->filename, fields->name, fields->qualname, fields->firstlineno, fields->linetable, fields->exceptiontable);
  if (code == nullptr) {
    return nullptr;
  }
  Py_XSETREF(code->co_localsplusnames, Py_NewRef(fields->localsplusnames));
  Py_XSETREF(code->co_localspluskinds, Py_NewRef(fields->localspluskinds));
  code->co_nlocals = code->co_ncellvars = code->co_nfreevars = 0;
  for (int slot = 0; slot < slots; ++slot) {
    const auto kind = static_cast<unsigned char>(PyBytes_AS_STRING(fields->localspluskinds)[slot]);
    code->co_nlocals += (kind & CO_FAST_LOCAL) != 0 ? 1 : 0;
    code->co_ncellvars += (kind & CO_FAST_CELL) != 0 ? 1 : 0;
    code->co_nfreevars += (kind & CO_FAST_FREE) != 0 ? 1 : 0;
  }
  return code;
}

// Makes new frames of the code larger.
inline void add_to_stack(PyCodeObject* code, int slots) {
  code->co_stacksize += slots;
  code->co_framesize += slots;
}

// Puts back the instructions in whose place the code has those that tell tools of lines and of instructions. The others
// that do so are rows of the opcode table.
inline void remove_events(const PyCodeObject* code, std::span<rewriter::CodeUnit> units) {
  const _PyCoMonitoringData* events = code->_co_monitoring;
  for (std::size_t unit = 0; events != nullptr && unit < units.size(); ++unit) {
    rewriter::Opcode opcode = rewriter::opcode_in(units[unit]);
    if (opcode == INSTRUMENTED_LINE && events->lines != nullptr) {
      opcode = events->lines[unit].original_opcode;
    }
    if (opcode == INSTRUMENTED_INSTRUCTION && events->per_instruction_opcodes != nullptr) {
      opcode = events->per_instruction_opcodes[unit];
    }
    units[unit] = rewriter::code_unit({opcode, rewriter::argument_in(units[unit])});
  }
}

// The first execution of RESUME specialises it.
inline bool has_run(const PyCodeObject* code) {
  const auto* units = reinterpret_cast<const rewriter::CodeUnit*>(code->co_code_adaptive);
  const rewriter::Opcode opcode = rewriter::opcode_in(units[code->_co_firsttraceable]);
  return opcode != rewriter::op::kRESUME && rewriter::info(opcode).base == rewriter::op::kRESUME;
}
// From now on has_run() is true: the frame that is in the code goes on with RESUME.
inline void mark_run(PyCodeObject* /*code*/) {}
// Drops the bytes that the interpreter has cached for co_code.
inline void forget_bytes(PyCodeObject* code) {
  if (code->_co_cached != nullptr) {
    Py_CLEAR(code->_co_cached->_co_code);
  }
}

// Places in co_extra.
inline Py_ssize_t request_extra_index(freefunc release) { return PyUnstable_Eval_RequestCodeExtraIndex(release); }
inline int get_extra(PyCodeObject* code, Py_ssize_t index, void** extra) {
  return PyUnstable_Code_GetExtra(reinterpret_cast<PyObject*>(code), index, extra);
}
inline int set_extra(PyCodeObject* code, Py_ssize_t index, void* extra) {
  return PyUnstable_Code_SetExtra(reinterpret_cast<PyObject*>(code), index, extra);
}

}  // namespace tagalong::version
