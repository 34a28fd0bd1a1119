// Exceptions: from the instruction that raised to the first instruction of its handler, or out of the frame.
//
// An instruction that raises has no hook behind it. The next hook is the one in front of a handler, or the one that
// reports the end of the frame. There the operation is emitted (its operands are still on the shadow stack), then
// guard_raised, then the interpreter's exception handling: the traceback's entry, dropping the values of the stack or
// the frame, and catch_exception.
#pragma once

#include "recorder/rules/steps.h"

namespace tagalong::recorder {

class ExceptionRules : public Steps {
 protected:
  using Steps::Steps;

  void raise(const Instruction&);
  void push_exc_info(const Instruction&);
  void pop_except(const Instruction&);
  void check_exc_match(const Instruction&);
  void check_eg_match(const Instruction&);
  void with_except_start(const Instruction&);
  void prep_reraise_star(const Instruction&);
  void cleanup_throw(const Instruction&);
  void intrinsic(const Instruction&);

  // Called in front of the first instruction of a handler, with the exception on top of the stack. False: the trace has
  // ended.
  bool catch_exception(cpython::Frame* frame, int handler);
  // An exception leaves the frame; the frame's handler has reported it.
  void unwind(cpython::Frame* frame);
  // A recorded __next__ has raised and the loop is over. This is known when a hook outside of the handler fires, or
  // another instruction raises.
  void end_iteration();

 private:
  static constexpr int kUnknownUnit = -2;
  void keep_exception();
  bool find_raising(int unit, PyObject* exception);
  bool run_pending_rules_before_raising();
  void emit_raising(bool leaves_root);
  void raise_statement(const Instruction& instruction, bool leaves_root);
  void reraise_statement(const Instruction& instruction, bool leaves_root);
  void raise_in_branch(const Instruction& instruction);
  void raise_by_rule(const Instruction& instruction);
  void expect_raise(SnapshotId otherwise);
  void drop_stack(std::size_t depth);
  void unwind_inlined();
  void unwind_root();
};

}  // namespace tagalong::recorder
