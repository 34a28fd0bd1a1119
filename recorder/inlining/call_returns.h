// How an inlined callee comes back: with a result, with an exception, or with a value that C code between caller and
// callee processes.
//
//   return_from_inlined(pop());   // in the callee: the caller has call_result from here on
//   finish_inlined();             // at the caller's next hook: the operands die, the result is pushed
#pragma once

#include "recorder/trace/type_guards.h"

namespace tagalong::recorder {

class CallReturns : public TypeGuards {
 protected:
  using TypeGuards::TypeGuards;

  void return_from_inlined(Value value);
  void finish_inlined();
  // Emits the end of the callee's frame; the caller pops its shadow frame.
  void leave_inlined(ShadowFrame& callee, SnapshotId at);
  // The callee on top returns: its shadow frame is popped, and values that only this frame held are dropped.
  // `declined`: a result that the caller does not take over.
  ShadowFrame end_callee(Value declined = replay::kNoValue);

  // A special method has returned to a type slot, whose C code processes the result before the next hook.
  void return_checked(int check);
  // The slot's result; the caller gets one holder.
  Value take_checked();
  // Whether a branch has evaluated the truth of its value but has not jumped yet: there is no state for a side exit
  // then.
  [[nodiscard]] bool is_branch_truth_known() const { return top().checked != replay::kNoValue && top().pending >= 0; }

  // A method has returned NotImplemented. If another Python method is called next, this already emits the guard that it
  // is the expected one: later there is no state from which the operator could be executed again.
  void guard_next_attempt();
  // The effect of the instruction after NotImplemented is known at its next hook, which calls finish_declined().
  void decline_operator();
  void finish_declined();

  // __init__ has returned a value other than None.
  void refuse_init_result();
  // The exception leaves the calling instruction, whose operands die in order, the first one first.
  void raise_in_caller();

  // Whether the instruction being executed has a consumer, or had one.
  [[nodiscard]] bool has_consumed() const {
    return top().consuming.consumer != replay::Consumer::kNone || top().consuming.is_over;
  }
  // Whether C code called by the current instruction may call a frame that the recording must see.
  [[nodiscard]] bool is_inside_instruction() const;
};

}  // namespace tagalong::recorder
