// From one instruction to the next. Instructions that only move values have no hook: their rules run at the next hook.
// Until then the shadow state is the one in front of `top().next`.
//
//   if (!advance_to(instruction)) return;   // the recording has ended on the way
//   run(instruction_at(instruction));
#pragma once

#include "recorder/rules/generator_rules.h"

namespace tagalong::recorder {

class Steps : public GeneratorRules {
 protected:
  using GeneratorRules::GeneratorRules;

  // Upward: runs the rule of the instruction.
  virtual void run_rule(const Instruction& instruction) = 0;

  // Runs the rules of the next instructions without hooks, up to `instruction` (-1: all of them). Returns the
  // instruction at which it stopped: it does not pass one that raises or has hooks.
  int run_pending_rules(int instruction);
  // Like run_pending_rules(), for a position that a pending branch can only have reached by its jump. False: this has
  // ended the recording.
  bool advance_to(int instruction) final;
  // Runs the rule of the instruction, and emits a guard_unwatched in front if one is due.
  void run(const Instruction& instruction);

  // Code that is not recorded is about to run and may install a trace function, which then finds the frame at its next
  // instruction.
  void note_unrecorded_code();

 private:
  void look_for_watchers();

  int ran_ = -1;  // the instruction whose rule ran last
};

}  // namespace tagalong::recorder
