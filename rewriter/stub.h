// Replay code: a stub right behind the first RESUME, which a call reaches with a complete frame and an empty stack. The
// stub has no positions, so a trace function does not see it; no exception range covers it; jumps back to the first
// instruction do not run it again.
//
//   Assembly assembly = decode(code);
//   const auto anchor = static_cast<std::uint32_t>(add_constant(assembly, object));
//   WithEntry replay = insert_entry(assembly, {{op::kLOAD_CONST, anchor}, {op::kFOR_ITER, 0, 3}, {op::kRETURN_VALUE}});
#pragma once

#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter {

struct WithEntry {
  CodeRef code;
  std::vector<int> offsets;       // code unit of each original instruction
  std::vector<int> stub_offsets;  // code unit of each instruction of the stub
};

// Targets in the stub are those of inserted code (edit.h), so stub.size() is the first original instruction behind
// RESUME. Code without a RESUME, or with nothing behind it, is refused.
WithEntry insert_entry(const Assembly& assembly, std::vector<Instruction> stub, const EncodeOptions& options = {});

}  // namespace tagalong::rewriter
