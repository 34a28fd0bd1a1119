// Each mistake that the verifier detects, in a graph that is otherwise valid.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "replay/ir/parser.h"
#include "replay/ir/verifier.h"

namespace tagalong::replay {
namespace {

constexpr const char* kFrames = R"(
frame 0: -
frame 1: -, function %1, parent 0
snapshot 0: frame 0, instruction 3, locals [%0, -], stack []
snapshot 1: frame 1, instruction 0, parent 0, locals [%0], stack []
)";

void check(const std::string& text, const std::vector<std::string>& wanted, const char* frames = kFrames) {
  const std::vector<std::string> problems = verify(parse(text + frames));
  BOOST_TEST(problems == wanted, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_verifier)

BOOST_AUTO_TEST_CASE(nothing_wrong) {
  check("%0 = param[0]\n%1 = param[1]\n%2 = binary_op[+] %0, %1 @1\nleave_frame[1] @1\ndrop %0\nreturn_value %2", {});
}

BOOST_AUTO_TEST_CASE(definitions) {
  check("return_value %0", {"node 0 (return_value %0): operand: there is no value 0"}, "");
  check("%0 = to_bool %1 @0\n%1 = param[1]\nreturn_value %1",
        {"node 0 (%0 = to_bool %1 @0): operand %1 is not defined yet",
         "node 0 (%0 = to_bool %1 @0): snapshot 0 with %0 is not defined yet"});
  check("%0 = param[0]\n%0 = param[1]\nreturn_value %0", {"node 1 (%0 = param[1]): %0 is defined at node 0 already"},
        "");
  check("%0 = param[0]\n%1 = is_op[is] %0, -\nreturn_value %0",
        {"node 1 (%1 = is_op[is] %0, -): operand: there is no value -1"});
}

BOOST_AUTO_TEST_CASE(drops) {
  check("%0 = param[0]\ndrop %0\nreturn_value %0", {"node 2 (return_value %0): operand %0 was dropped at node 1"}, "");
  check("%0 = param[0]\n%1 = param[1]\ndrop %0\nguard_true %1 @0\nreturn_value %1",
        {"node 3 (guard_true %1 @0): snapshot 0 with %0 was dropped at node 2"});
  check("%0 = param[0]\n%1 = param[1]\ndrop %0, %0\nleave @0",
        {"node 2 (drop %0, %0): %0 is dropped twice", "node 3 (leave @0): snapshot 0 with %0 was dropped at node 2"});
  check("%0 = param[0]\n%1 = param[1]\ndrop %1\nguard_true %0 @1\nreturn_value %0",
        {"node 3 (guard_true %0 @1): snapshot 1 with %1 was dropped at node 2"});  // the function of frame 1
}

BOOST_AUTO_TEST_CASE(counts_and_immediates) {
  check("%0, %1 = param[0]\nreturn_value %0, %1", {"node 0 (%0, %1 = param[0]): 2 results, param has 1",
                                                   "node 1 (return_value %0, %1): 2 operands, return_value takes 1"});
  check("%0 = param[0]\n%1, %2 = unpack_sequence[3] %0 @0\nreturn_value %0",
        {"node 1 (%1, %2 = unpack_sequence[3] %0 @0): 2 results, unpack_sequence has 3"});
  check("%0 = constant\n%1 = null[1]{2}\nreturn_value %0",
        {"node 0 (%0 = constant): constant takes an object", "node 1 (%1 = null[1]{2}): null takes no object",
         "node 1 (%1 = null[1]{2}): null takes no integer"});
  check("%0 = param[0]\n%1 = param[0]\nreturn_value %0",
        {"node 1 (%1 = param[0]): slot 0 is already the param of node 0"});
}

BOOST_AUTO_TEST_CASE(snapshots) {
  check("%0 = param[0]\n%1 = param[1]\nguard_true %0\nguard_true %0 @7\nreturn_value %0",
        {"node 2 (guard_true %0): guard_true needs a snapshot", "node 3 (guard_true %0 @7): there is no snapshot 7"});
  check("%0 = param[0]\nreturn_value %0",
        {"snapshot 0: there is no frame 3", "snapshot 1: instruction -2",
         "snapshot 2: 1 locals, another snapshot of frame 0 has 0",
         "snapshot 3: frame 1 needs a snapshot of its parent", "snapshot 4: parent 4 is not an earlier snapshot",
         "snapshot 5: parent 3 is of frame 1, the parent of frame 1 is 0"},
        R"(
frame 0: -
frame 1: -, parent 0
snapshot 0: frame 3, instruction 3, locals [], stack []
snapshot 1: frame 0, instruction -2, locals [], stack []
snapshot 2: frame 0, instruction 2, locals [%0], stack []
snapshot 3: frame 1, instruction 0, locals [], stack []
snapshot 4: frame 1, instruction 0, parent 4, locals [], stack []
snapshot 5: frame 1, instruction 0, parent 3, locals [], stack []
)");
}

BOOST_AUTO_TEST_CASE(frames) {
  check("%0 = param[0]\nreturn_value %0",
        {"frame 0: the root frame has parent 0", "frame 1: parent 2 is not an earlier frame",
         "frame 2: there is no value %9"},
        "\nframe 0: -, parent 0\nframe 1: -, parent 2\nframe 2: -, function %9, parent 0");
  check("%0 = param[0]\n%1 = param[1]\nleave_frame[1]\nleave_frame[1]\nleave_frame[2]\nguard_true %0 @1\nleave @0",
        {"node 3 (leave_frame[1]): frame 1 has returned before", "node 4 (leave_frame[2]): there is no inlined frame 2",
         "node 5 (guard_true %0 @1): snapshot 1 is of frame 1, which returned at node 3"});
}

BOOST_AUTO_TEST_CASE(terminators) {
  check("", {"the graph does not end in return_value, yield_value or leave"}, "");
  check("%0 = param[0]\nreturn_value %0\nreturn_value %0", {"node 1 (return_value %0): a terminator before the end"},
        "");
  check("%0 = param[0]", {"the graph does not end in return_value, yield_value or leave"}, "");
}

BOOST_AUTO_TEST_CASE(exceptions_under_way) {
  const std::string params = "%0 = param[0]\n%1 = param[1]\n";
  check(params + "%2 = binary_op[+] %0, %1 @0\nguard_raised @0\ntraceback_entry @0\n%3 = catch_exception @0\nleave @0",
        {});
  check(params + "raise %0 @0\ndrop %1\nraise_out @0", {});
  check(params + "%2 = is_op[is] %0, %1\nguard_raised @0\nraise_out @0",
        {"node 3 (guard_raised @0): nothing before it may raise"});
  check(params + "raise %0 @0\n%2 = to_bool %1 @0\nraise_out @0",
        {"node 3 (%2 = to_bool %1 @0): an exception is under way"});
  check(params + "raise %0 @0\nreturn_value %1", {"node 3 (return_value %1): an exception is under way"});
  check(params + "raise_stop_iteration %0\ndrop %1\nraise_out @0", {});
  check(params + "raise %0 @0\nfail_generator[1] @0\nraise_out @0", {});
  check(params + "fail_generator[1] @0\nreturn_value %1", {"node 2 (fail_generator[1] @0): no exception is under way"});
  check(params + "raise_out @0", {"node 2 (raise_out @0): no exception is under way"});
  check(params + "raise %0 @0\n%2 = catch_exception @0\ntraceback_entry @0\nleave @0",
        {"node 4 (traceback_entry @0): no exception is under way"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
