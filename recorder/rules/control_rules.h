// Rules: branches, iteration, jumps back and returns. The outcome of a branch is known at the next hook: the branch is
// pending until settle() finds out where it went.
#pragma once

#include "recorder/inlining/inliner.h"

namespace tagalong::recorder {

class ControlRules : public Inliner {
 protected:
  using Inliner::Inliner;

  void branch(const Instruction&);
  void jump_backward(const Instruction&);
  void return_value(const Instruction&);

  // At the hook of this instruction, behind it if `is_after`.
  void settle(int instruction, bool is_after);

 private:
  void settle_iteration(const Instruction& instruction, bool exhausted);
  void settle_send(const Instruction& instruction, bool returned);
  void settle_none(const Instruction& instruction, bool taken);
  void settle_truth(const Instruction& instruction, bool taken);
  void count_back_edge(int target);
};

}  // namespace tagalong::recorder
