// The tables that describe operations agree with what is derived from them.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "replay/arrays/kernels/ufunc_info.h"
#include "replay/ir/operators.h"
#include "replay/ir/ops.h"
#include "replay/steps/loop_ops.h"

namespace tagalong::replay {

BOOST_AUTO_TEST_SUITE(tables)

BOOST_AUTO_TEST_CASE(operations_have_names_and_texts) {
  for (std::size_t number = 0; number < kOpCount; ++number) {
    const auto op = static_cast<Op>(number);
    BOOST_TEST((op_named(info(op).name) == op), info(op).name);
    BOOST_TEST(!info(op).documentation.empty(), info(op).name);
    const bool has_text = operator_text(op, 0).has_value() || operator_number(op, "-").has_value();
    BOOST_TEST(has_text == info(op).has_operator(), info(op).name);
  }
  BOOST_TEST(!op_named("no_such_operation").has_value());
}

BOOST_AUTO_TEST_CASE(operations_that_take_part_in_exceptions) {
  BOOST_TEST(info(Op::raise).begins_raise());
  BOOST_TEST(info(Op::guard_raised).begins_raise());
  BOOST_TEST(!info(Op::call).begins_raise());
  BOOST_TEST(has(Op::end_iteration, trait::kEndsRaise));
  BOOST_TEST(has(Op::drop, trait::kAmidRaise));
}

BOOST_AUTO_TEST_CASE(snapshots_of_operations) {
  BOOST_TEST(info(Op::guard_function).states_before_itself());
  BOOST_TEST(!info(Op::guard_true).states_before_itself());
  BOOST_TEST(info(Op::call).states_before_itself());
  BOOST_TEST(!info(Op::leave_frame).states_before_itself());
}

BOOST_AUTO_TEST_CASE(operations_that_may_be_repeated) {
  BOOST_TEST(info(Op::load_attr).may_be_repeated());
  BOOST_TEST(info(Op::int_binary).may_be_repeated());
  BOOST_TEST(!info(Op::param).may_be_repeated());
  BOOST_TEST(!info(Op::call).may_be_repeated());
  BOOST_TEST(!info(Op::return_value).may_be_repeated());
}

BOOST_AUTO_TEST_CASE(loop_operations) {
  std::set<std::string> names;
  for (std::size_t number = 0; number < kLoopCodeCount; ++number) {
    const LoopOpInfo& row = info(static_cast<LoopCode>(number));
    BOOST_TEST(names.emplace(row.name).second, row.name);
    BOOST_TEST(!row.documentation.empty(), row.name);
    if (row.has(loop_trait::kUnboxes)) {
      BOOST_TEST((unboxing(row.gives) == static_cast<LoopCode>(number)), row.name);
    }
    if (row.has(loop_trait::kCompares)) {
      const LoopOpInfo& guard = info(guard_of(static_cast<LoopCode>(number)));
      BOOST_TEST(std::string(guard.name) == "guard_" + std::string(row.name));
      BOOST_TEST((guard.left == row.left && guard.right == row.right), row.name);
      BOOST_TEST(guard.has(loop_trait::kGuards), row.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(ufuncs) {
  using array::UfuncName;
  using array::VectorOp;
  std::set<std::string> names;
  for (const char* name : array::kUfuncNames) {
    BOOST_TEST(names.insert(name).second, name);
    BOOST_TEST(std::string(array::name_of(array::ufunc_named(name))) == name);
  }
  BOOST_TEST((array::ufunc_named("no_such_ufunc") == UfuncName::kCount));
  BOOST_TEST((info(UfuncName::kCount).raises == array::UfuncRaises::kUnknown));
  BOOST_TEST(!has(UfuncName::kCount, array::ufunc_trait::kOperator));
  BOOST_TEST((info(UfuncName::kDivide).numbers == VectorOp::kDivide));
  BOOST_TEST((info(UfuncName::kLogicalNot).bools == VectorOp::kNot));
  BOOST_TEST((info(UfuncName::kExp).svml == VectorOp::kExp));
  BOOST_TEST((info(UfuncName::kExp).glibc == VectorOp::kGlibcExp));
  BOOST_TEST((info(UfuncName::kSin).glibc == VectorOp::kNone));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
