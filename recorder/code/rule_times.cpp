#include "recorder/code/rule_times.h"

#include <array>

#include "rewriter/versions/opcodes.h"

namespace tagalong::recorder {
namespace {

constexpr std::array<When, rewriter::kOpcodeCount> times() {
  std::array<When, rewriter::kOpcodeCount> times{};
#define TAGALONG_RULE(name, time, method) times.at(rewriter::op::k##name) = When::time;
#include "version/rules.inc"
#undef TAGALONG_RULE
  return times;
}

constexpr std::array<When, rewriter::kOpcodeCount> kTimes = times();

}  // namespace

When rule_time(rewriter::Opcode opcode) { return kTimes.at(opcode); }

bool wants_before(rewriter::Opcode opcode) {
#ifdef TAGALONG_CHECKS
  // Builds with checks compare the shadow stack with the real one before every instruction that changes the frame.
  return rule_time(opcode) != When::kNone;
#else
  const When when = rule_time(opcode);
  return when == When::kBefore || when == When::kBoth;
#endif
}

bool wants_after(rewriter::Opcode opcode) {
  const When when = rule_time(opcode);
  return when == When::kAfter || when == When::kBoth;
}

}  // namespace tagalong::recorder
