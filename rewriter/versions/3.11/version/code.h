// Code objects of CPython 3.11: making them, and fields that have no public reader.
#pragma once

#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
extern "C" {
#include <internal/pycore_code.h>
}
#undef Py_BUILD_CORE

#include <span>

#include "rewriter/base/ref.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

// What a code object is made of; all objects are borrowed.
using CodeFields = _PyCodeConstructor;

// Null with an exception set.
inline PyCodeObject* new_code(CodeFields* fields) { return _PyCode_New(fields); }
// Whether the numbers of arguments and slots fit together; false with an exception set.
inline bool is_valid(CodeFields* fields) { return _PyCode_Validate(fields) >= 0; }

// Makes new frames of the code larger.
inline void add_to_stack(PyCodeObject* code, int slots) { code->co_stacksize += slots; }

// co_warmup of code that has never run.
inline constexpr short kFresh = QUICKENING_INITIAL_WARMUP_VALUE;
inline bool has_run(const PyCodeObject* code) { return code->co_warmup != kFresh; }
// From now on has_run() is true.
inline void mark_run(PyCodeObject* code) { code->co_warmup = has_run(code) ? code->co_warmup : short{kFresh + 1}; }
// Instructions are not changed for tools.
inline void remove_events(const PyCodeObject* /*code*/, std::span<rewriter::CodeUnit> /*units*/) {}

// Drops the bytes that the interpreter has cached for co_code.
inline void forget_bytes(PyCodeObject* code) { Py_CLEAR(code->_co_code); }

// Places in co_extra.
inline Py_ssize_t request_extra_index(freefunc release) { return _PyEval_RequestCodeExtraIndex(release); }
inline int get_extra(PyCodeObject* code, Py_ssize_t index, void** extra) {
  return _PyCode_GetExtra(reinterpret_cast<PyObject*>(code), index, extra);
}
inline int set_extra(PyCodeObject* code, Py_ssize_t index, void* extra) {
  return _PyCode_SetExtra(reinterpret_cast<PyObject*>(code), index, extra);
}

}  // namespace tagalong::version
