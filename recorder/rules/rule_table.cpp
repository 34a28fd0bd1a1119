#include "recorder/rules/rule_table.h"

#include <array>

#include "recorder/session.h"

namespace tagalong::recorder {

struct RuleTable {
  using Rule = void (Session::*)(const rewriter::Instruction&);
  static constexpr std::array<Rule, 256> make() {
    std::array<Rule, 256> rules{};
#define TAGALONG_RULE(name, time, method) rules.at(rewriter::op::k##name) = &Session::method;
#include "recorder/code/rules.inc"
#undef TAGALONG_RULE
    return rules;
  }
};

namespace {

constexpr std::array<RuleTable::Rule, 256> kRules = RuleTable::make();

}  // namespace

void run_rule(Session& session, const rewriter::Instruction& instruction) {
  (session.*kRules.at(instruction.opcode))(instruction);
}

}  // namespace tagalong::recorder
