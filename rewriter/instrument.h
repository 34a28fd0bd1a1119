// Recording code: hooks in front of and behind chosen instructions. A hook is
//
//   PUSH_NULL; LOAD_CONST callable; LOAD_CONST key; PRECALL 1; CALL 1; POP_TOP
//
// where key stands for 2 * index in front of and 2 * index + 1 behind the original instruction `index` (hook_key.h).
// The callable sees the stack as the instruction sees it (or leaves it), with three slots more.
//
// Not every place can have a hook; where the plan asks for one that cannot be, there is none:
//  - nowhere in front of the first RESUME: the frame is not complete; and nowhere that control never reaches;
//  - KW_NAMES, PRECALL and CALL are one: KW_NAMES leaves the names in a place that the hook's own call would use up,
//  and a
//    specialised PRECALL skips the CALL. The hook in front of CALL stands in front of the three; the others have none;
//  - SEND, YIELD_VALUE, RESUME and the jump back to SEND are one: the generator's throw() looks at the instruction in
//  front
//    of YIELD_VALUE and the one behind it, and no signal may be served before the innermost generator goes on, which a
//    hook's call would do. The hook in front of SEND stands in front of the loop; the others have none;
//  - the hook behind a YIELD_VALUE that delegates nothing stands behind its RESUME;
//  - nothing stands behind an instruction that does not go on to the next one; behind a branch is where it is not
//  taken.
// A departure is code in front of a YIELD_VALUE, behind its hook, that may take the frame away from there (into other
// code). A YIELD_VALUE in a SEND loop has none; instead the loop is entered through a copy of the SEND that has hooks
// and departure behind it, and goes on with the YIELD_VALUE of the loop where the departure did not take the frame:
//
//   hook; SEND returned; hook of the YIELD_VALUE; departure; JUMP_FORWARD yield
//   SEND returned; yield: YIELD_VALUE; RESUME; JUMP_BACKWARD_NO_INTERRUPT        as before
//
// A JUMP_BACKWARD_NO_INTERRUPT to that SEND from elsewhere goes to the copy, without the hook in front: where a frame
// is resumed in the middle of such a loop, nothing may be called before the innermost generator goes on. Hooks are
// covered by exception ranges like their instruction and have the position of the instruction next to them, so that a
// trace function gets the same events.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter {

struct HookPlan {
  Ref callable;
  std::function<bool(int)> before;  // by index of the instruction; empty: none
  std::function<bool(int)> after;
  // For a YIELD_VALUE: the code of its departure, targets as in inserted code (edit.h). It uses up to three slots.
  std::function<std::vector<Instruction>(int)> departure;
  int stack_size = 0;  // at least
};

struct Instrumented {
  CodeRef code;
  std::vector<int> offsets;              // code unit of each original instruction
  std::vector<int> before_hook_offsets;  // code unit where the hook begins, -1: no hook
  std::vector<int> after_hook_offsets;
  std::vector<std::pair<int, int>> send_copies;  // code unit, and the SEND it is a copy of
  std::vector<int> depths;                       // of the stack before each original instruction, -1: never reached
  int callable_constant_index = -1;
};

Instrumented instrument(const Assembly& assembly, const HookPlan& plan);

}  // namespace tagalong::rewriter
