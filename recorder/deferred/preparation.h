// What the hook in front of an instruction does about operations of large arrays: it finds out whether the instruction
// is one that a proxy executes (array_proxy.h), whether its result may be deferred, and whether the frame's deferred
// arrays (deferred_arrays.h) have to be forced first because the instruction could show them.
//
//   if (!prepare_arrays(instruction, has_keywords, name, place)) ...   // before the instruction's rule
//   if (!put_array_proxy(instruction, place)) ...                      // behind the rule, which looks at the operands
#pragma once

#include <Python.h>

#include <cstdint>

#include "recorder/deferred/spans.h"
#include "rewriter/code.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

// Operations of arrays of fewer bytes are not deferred: planning a fusion group takes longer than computing them.
inline constexpr long kMinDeferred = 384L << 10U;
extern long min_deferred;

// Whether this opcode may need a proxy.
[[nodiscard]] bool may_have_array_proxy(rewriter::Opcode opcode);

struct ArrayPlace {
  cpython::Frame* frame;
  PyObject** end;  // end of the stack
  ArraySpans::Reach reach;
  bool may_begin;
  bool may_extend;
};
// Sets no exception unless it returns false: then a deferred operation has raised it.
bool prepare_arrays(const rewriter::Instruction& instruction, bool has_keywords, PyObject* name,
                    const ArrayPlace& place);
bool put_array_proxy(const rewriter::Instruction& instruction, const ArrayPlace& place);

}  // namespace tagalong::recorder
