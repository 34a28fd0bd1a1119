#include "recorder/rules/rules.h"

#include <array>

namespace tagalong::recorder {

struct Rules::Table {
  using Rule = void (Rules::*)(const Instruction&);
  static constexpr std::array<Rule, 256> make() {
    std::array<Rule, 256> rules{};
#define TAGALONG_RULE(name, time, method) rules.at(rewriter::op::k##name) = &Rules::method;
#include "version/rules.inc"
#undef TAGALONG_RULE
    return rules;
  }
};

void Rules::run_rule(const Instruction& instruction) {
  static constexpr std::array<Table::Rule, 256> kRules = Table::make();
  (this->*kRules.at(instruction.opcode))(instruction);
}

}  // namespace tagalong::recorder
