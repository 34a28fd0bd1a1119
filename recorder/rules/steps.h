// From one instruction to the next. Instructions that only move values have no hook: their rules run when the next hook
// comes. The shadow state stands before `top().next` until then.
//
//   if (!come_to(instruction)) return;   // the recording has ended on the way
//   run(instruction_at(instruction));
#pragma once

#include "recorder/rules/generator_rules.h"

namespace tagalong::recorder {

class Steps : public GeneratorRules {
 protected:
  using GeneratorRules::GeneratorRules;

  // Upward: the rule of the instruction under way.
  virtual void run_rule(const Instruction& instruction) = 0;

  // Runs the rules of the instructions without hooks that come next, up to `instruction` (-1: all of them), and gives
  // the place where that ends: one that raises, or has hooks, is not passed.
  int catch_up(int instruction);
  // The same, where an open branch in front of it must have been taken. False: the recording has ended with that.
  bool come_to(int instruction) final;
  // The rule of the instruction under way, and what is due around it.
  void run(const Instruction& instruction);

  // Code that is not recorded runs now, and may begin to watch: what watches finds the frame at its next instruction.
  void note_others();

 private:
  void look_for_watchers();

  int ran_ = -1;  // instruction whose rule has run last
};

}  // namespace tagalong::recorder
