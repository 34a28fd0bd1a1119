// Recording code: hooks in front of and behind chosen instructions. A hook is
//
//   PUSH_NULL; LOAD_CONST callable; LOAD_CONST key; PRECALL 1; CALL 1; POP_TOP
//
// where key represents 2 * index in front of and 2 * index + 1 behind the original instruction `index` (hook_key.h).
// The callable sees the stack as it is in front of or behind the instruction, with three more slots.
//
// Some places cannot have a hook. If the plan asks for one there, it is left out:
//  - in front of the first RESUME, because the frame is not complete; and at instructions that control never reaches;
//  - KW_NAMES, PRECALL and CALL are treated as one instruction: KW_NAMES stores the names where the hook's own call
//    would consume them, and a specialised PRECALL skips the CALL. The hook in front of CALL is put in front of the
//    three, and the other two have none;
//  - END_FOR, and the POP_TOP behind it in some versions: when the iterator has nothing, the interpreter goes on behind
//    them, so they must be exactly where FOR_ITER leads. The hook behind them is behind the last one;
//  - SEND, YIELD_VALUE, RESUME and the jump back to SEND are treated as one instruction: the generator's throw() looks
//    at the instructions in front of and behind YIELD_VALUE, and no signal may be handled before the innermost
//    generator has been resumed, but the call of a hook would poll. The hook in front of SEND is put in front of the
//    loop, and the others have none;
//  - the hook behind a YIELD_VALUE that does not delegate is put behind its RESUME;
//  - there is no hook behind an instruction that never continues with the next one; the hook behind a branch is on the
//    path that is not taken.
// A departure is code in front of a YIELD_VALUE, behind its hook, that may move the frame into other code. A
// YIELD_VALUE in a SEND loop has no departure. Instead the loop is entered through a copy of the SEND, which is
// followed by hooks and the departure; if the departure does not move the frame, the copy continues at the loop's
// YIELD_VALUE:
//
//   hook; SEND returned; hook of the YIELD_VALUE; departure; JUMP_FORWARD yield
//   SEND returned; yield: YIELD_VALUE; RESUME; JUMP_BACKWARD_NO_INTERRUPT        as in the original
//
// A JUMP_BACKWARD_NO_INTERRUPT to that SEND from elsewhere leads to the copy and skips the hook in front: when a frame
// is resumed in the middle of such a loop, nothing may be called before the innermost generator has been resumed.
// Exception ranges cover hooks like their instruction, and hooks have the position of the instruction next to them, so
// that a trace function gets the same events.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter {

struct HookPlan {
  Ref callable;
  std::function<bool(int)> before;  // whether to hook in front of the instruction with this index; empty: no hooks
  std::function<bool(int)> after;
  // The departure of a YIELD_VALUE; targets as in inserted code (edit.h). It may use three stack slots.
  std::function<std::vector<Instruction>(int)> departure;
  int stack_size = 0;  // minimum of the result's stack size
  // A LOAD_SUPER_ATTR that loads a method becomes one that loads an attribute, with a PUSH_NULL behind it. Otherwise it
  // depends on its specialisation what the two values are.
  bool splits_super = false;
};

struct Instrumented {
  CodeRef code;
  std::vector<int> offsets;              // code unit of each original instruction
  std::vector<int> before_hook_offsets;  // code unit at which the hook begins, -1: no hook
  std::vector<int> after_hook_offsets;
  std::vector<std::pair<int, int>> send_copies;  // code unit of the copy, and index of the SEND that it copies
  std::vector<int> depths;                       // stack depth before each original instruction, -1: never reached
  int callable_constant_index = -1;
};

Instrumented instrument(const Assembly& assembly, const HookPlan& plan);

}  // namespace tagalong::rewriter
