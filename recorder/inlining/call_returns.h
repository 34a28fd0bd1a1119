// How a callee in the caller's graph comes back: with a result, with an exception, or with an answer that C code
// between caller and callee makes something of.
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
  // The callee's frame ends; the caller pops it.
  void leave_inlined(ShadowFrame& callee, SnapshotId at);
  // The callee on top returns: its shadow frame is popped, and the values that only it held are dropped. `declined`: a
  // result that the caller does not take either.
  ShadowFrame end_callee(Value declined = replay::kNoValue);

  // A special method has returned to a slot, which makes something of the result at the next hook.
  void return_checked(int check);
  // What the slot has made of it, held once.
  Value take_checked();
  // A branch has asked its value, and has not gone on yet: there is no state to leave at.
  [[nodiscard]] bool is_branch_asked() const { return top().checked != replay::kNoValue && top().pending >= 0; }

  // A method has answered NotImplemented: if another method in Python is asked next, a guard makes sure already that it
  // will be that one. Behind this the operator cannot be begun anew.
  void guard_next_attempt();
  // What the instruction does after NotImplemented is known at its next hook, which calls finish_declined().
  void decline_operator();
  void finish_declined();

  // __init__ has returned something.
  void refuse_init_result();
  // The exception comes out of the instruction that has called, whose operands die from the first to the last.
  void raise_in_caller();

  // Whether the instruction under way has a consumer, or had one.
  [[nodiscard]] bool has_consumed() const {
    return top().consuming.consumer != replay::Consumer::kNone || top().consuming.is_over;
  }
  // Whether C code that the instruction under way has called may call a frame that the recording must see.
  [[nodiscard]] bool is_amid_instruction() const;
};

}  // namespace tagalong::recorder
