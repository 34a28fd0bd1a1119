// What the hook in front of an instruction does for operations of large arrays: whether the instruction is one, and is
// executed by a proxy (array_proxy.h); whether its result may wait; and whether what waits (deferred_arrays.h) is
// computed first, since somebody might see it.
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

// Operations of arrays of fewer bytes do not wait: to plan a fusion group takes longer than they do.
inline constexpr long kMinDeferred = 384L << 10U;
extern long min_deferred;

// Whether there may be something to do in front of this opcode.
[[nodiscard]] bool may_have_array_proxy(std::uint8_t opcode);

struct ArrayPlace {
  cpython::Frame* frame;
  PyObject** end;  // of the stack
  ArraySpans::Reach reach;
  bool may_begin;
  bool may_extend;
};
// No exception is set; false: one is then, raised by an operation that has waited.
bool prepare_arrays(const rewriter::Instruction& instruction, bool has_keywords, PyObject* name,
                    const ArrayPlace& place);
bool put_array_proxy(const rewriter::Instruction& instruction, const ArrayPlace& place);

}  // namespace tagalong::recorder
