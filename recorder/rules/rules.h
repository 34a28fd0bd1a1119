// The recording rules: what one instruction means for the graph, by the table in version/rules.inc. The base
// classes have the rules, by kind of instruction.
#pragma once

#include "recorder/rules/exception_rules.h"

namespace tagalong::recorder {

class Rules : public ExceptionRules {
 protected:
  using ExceptionRules::ExceptionRules;

  void run_rule(const Instruction& instruction) final;

 private:
  struct Table;
};

}  // namespace tagalong::recorder
