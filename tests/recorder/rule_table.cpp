// Every opcode of the version table has a recording rule, and its hooks fire where the rule needs them.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "recorder/code/rule_times.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::recorder {
namespace {

// Names of the opcodes whose hooks fire at this time.
std::set<std::string> opcodes_at(When when) {
  std::set<std::string> names;
  for (int opcode = 0; opcode < 256; ++opcode) {
    const rewriter::OpcodeInfo& row = rewriter::info(static_cast<rewriter::Opcode>(opcode));
    if (row.known() && rule_time(static_cast<rewriter::Opcode>(opcode)) == when) {
      names.emplace(row.name);
    }
  }
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rule_table)

BOOST_AUTO_TEST_CASE(every_opcode_has_a_rule) {
  BOOST_TEST(opcodes_at(When::kMissing) == std::set<std::string>{}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(there_are_no_rules_for_opcodes_that_do_not_exist) {
  int rules = 0;
  for (int opcode = 0; opcode < 256; ++opcode) {
    const bool has_rule = rule_time(static_cast<rewriter::Opcode>(opcode)) != When::kMissing;
    BOOST_TEST(has_rule == rewriter::info(static_cast<rewriter::Opcode>(opcode)).known(), "opcode " << opcode);
    rules += has_rule ? 1 : 0;
  }
  BOOST_TEST(rules > 100);
}

// An instruction that does not continue with the next one can only be observed in front of it.
BOOST_AUTO_TEST_CASE(an_instruction_that_ends_or_jumps_has_its_hook_before) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    const auto number = static_cast<rewriter::Opcode>(opcode);
    const rewriter::OpcodeInfo& row = rewriter::info(number);
    if (!row.known()) {
      continue;
    }
    const When when = rule_time(number);
    if (row.flow == rewriter::Flow::kStop) {
      BOOST_TEST((when == When::kBefore), row.name);
    }
    if (row.flow == rewriter::Flow::kJump) {
      BOOST_TEST((when == When::kBefore || when == When::kNone), row.name);
    }
    if (row.flow == rewriter::Flow::kBranch && when != When::kBefore) {
      BOOST_TEST((when == When::kBoth), row.name);  // the hook behind it shows that the branch was not taken
    }
  }
}

// An instruction without hooks must not change the shadow state. RETURN_GENERATOR comes before the RESUME at which the
// recording of a generator starts, and the POP_TOP behind it pops its value.
BOOST_AUTO_TEST_CASE(an_instruction_without_hooks_leaves_the_stack_alone) {
  for (const std::string& name : opcodes_at(When::kNone)) {
    const rewriter::Opcode opcode = *rewriter::opcode_by_name(name);
    if (rewriter::info(opcode).flow == rewriter::Flow::kImplied || opcode == rewriter::op::kRETURN_GENERATOR) {
      continue;
    }
    const auto edge =
        rewriter::info(opcode).flow == rewriter::Flow::kJump ? rewriter::Edge::kJump : rewriter::Edge::kNext;
    BOOST_TEST(rewriter::pushes(opcode, 0, edge) == rewriter::pops(opcode, 0), name);
  }
}

BOOST_AUTO_TEST_CASE(hooks_are_where_the_rows_say) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    const auto number = static_cast<rewriter::Opcode>(opcode);
    const When when = rule_time(number);
    if (when == When::kMissing) {
      continue;
    }
    BOOST_TEST(wants_after(number) == (when == When::kAfter || when == When::kBoth));
    if (when == When::kBefore || when == When::kBoth) {
      BOOST_TEST(wants_before(number));
    }
    if (when == When::kNone || when == When::kLater) {
      BOOST_TEST(!wants_after(number));
    }
    if (when == When::kNone) {
      BOOST_TEST(!wants_before(number));
    }
  }
}

// The next hook runs the rule, so the path to it must be straight.
BOOST_AUTO_TEST_CASE(an_instruction_whose_rule_runs_later_has_one_successor) {
  for (const std::string& name : opcodes_at(When::kLater)) {
    BOOST_TEST((rewriter::info(*rewriter::opcode_by_name(name)).flow == rewriter::Flow::kNext), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::recorder
