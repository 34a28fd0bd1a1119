// Rules: branches, iteration, jumps back and returns. The outcome of a branch is known only at the next hook: the
// branch is pending until resolve_branch() determines where it went.
#pragma once

#include "recorder/inlining/inliner.h"

namespace tagalong::recorder {

class ControlRules : public Inliner {
 protected:
  using Inliner::Inliner;

  void branch(const Instruction&);
  void jump_backward(const Instruction&);
  void return_value(const Instruction&);
  void return_const(const Instruction&);
  void end_for(const Instruction&);
  void end_send(const Instruction&);
  void to_bool(const Instruction&);

  // Called at the hook of this instruction; `is_after`: the hook behind it.
  void resolve_branch(int instruction, bool is_after);

 private:
  void return_object(PyObject* object);
  void resolve_iteration(const Instruction& instruction, bool exhausted);
  void resolve_send(const Instruction& instruction, bool returned);
  void resolve_none_jump(const Instruction& instruction, bool jumps_if_none, bool taken);
  void resolve_truth_jump(const Instruction& instruction, bool taken);
  void count_back_edge(int target);
};

}  // namespace tagalong::recorder
