#include "recorder/rules/rule_table.h"

#include <array>

#include "recorder/session.h"

namespace tagalong::recorder {

struct RuleTable {
  using Rule = void (Session::*)(const rewriter::Instruction&);
  struct Row {
    When when = When::kMissing;
    Rule rule = nullptr;
  };
  static constexpr std::array<Row, 256> make() {
    std::array<Row, 256> rows{};
#define TAGALONG_RULE(name, time, method) rows.at(rewriter::op::k##name) = {When::time, &Session::method};
#include "recorder/rules/rules.inc"
#undef TAGALONG_RULE
    return rows;
  }
};

namespace {

constexpr std::array<RuleTable::Row, 256> kRules = RuleTable::make();

}  // namespace

When rule_time(std::uint8_t opcode) { return kRules.at(opcode).when; }

bool wants_before(std::uint8_t opcode) {
#ifdef TAGALONG_CHECKS
  // The shadow stack is compared with the real one before every instruction that changes something.
  return rule_time(opcode) != When::kNone;
#else
  const When when = rule_time(opcode);
  return when == When::kBefore || when == When::kBoth;
#endif
}

bool wants_after(std::uint8_t opcode) {
  const When when = rule_time(opcode);
  return when == When::kAfter || when == When::kBoth;
}

void run_rule(Session& session, const rewriter::Instruction& instruction) {
  (session.*kRules.at(instruction.opcode).rule)(instruction);
}

}  // namespace tagalong::recorder
