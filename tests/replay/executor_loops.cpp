// Graphs with loops: unboxed numbers, side exits, and the state that a redirect finds.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/replay/executor_support.h"

namespace tagalong::replay {
namespace {

constexpr const char* kSum = R"(
def f(items):
    total = 0
    for i in items:
        total = total + i
    return total

objects = [f.__code__, type(iter(range(0)))]
)";

// The first round has been peeled; `i` of that round is the loop's first parameter for the slot.
constexpr const char* kSumGraph = R"(graph 'f'
frame 0: <#0 code f>, function %0
%0 = function
%1 = param[0]
guard_type{<class 'range'>} %1 @0
%2 = constant{0}
%3 = get_iter %1 @1
guard_type{<#1 type>} %3 @2
%4 = range_next %3
guard_not_null %4 @3
%5 = int_binary[+] %2, %4 @4
%6, %7, %8, %9 = loop[4]{'oiio'} %1, %5, %4, %3 @5
drop %1, %5, %4, %3
%10 = range_next %9
guard_not_null %10 @6
sync_local[2]{0} %10
drop %8
%11 = int_binary[+] %7, %10 @7
sync_local[1]{0} %11
drop %7
jump_back[1] %6, %11, %10, %9 @8
snapshot 0: frame 0, instruction $f.LOAD_FAST, locals [%1, -, -], stack []
snapshot 1: frame 0, instruction $f.GET_ITER, locals [%1, %2, -], stack [%1]
snapshot 2: frame 0, instruction $f.FOR_ITER, locals [%1, %2, -], stack [%3]
snapshot 3: frame 0, instruction $f.LOAD_FAST.3, locals [%1, %2, -], stack []
snapshot 4: frame 0, instruction $f.BINARY_OP, locals [%1, %2, %4], stack [%3, %2, %4]
snapshot 5: frame 0, instruction $f.FOR_ITER, locals [%1, %5, %4], stack [%3]
snapshot 6: frame 0, instruction $f.LOAD_FAST.3, locals [%6, %7, %8], stack []
snapshot 7: frame 0, instruction $f.BINARY_OP, locals [%6, %7, %10], stack [%9, %7, %10]
snapshot 8: frame 0, instruction $f.JUMP_BACKWARD, locals [%6, %11, %10], stack [%9]
)";

BOOST_AUTO_TEST_SUITE(loops)

BOOST_AUTO_TEST_CASE(rounds_without_objects) {
  GraphRun run(kSum, kSumGraph);
  for (const char* arguments : {"(range(1),)", "(range(2),)", "(range(1000),)", "(range(-5, 7, 3),)"}) {
    BOOST_TEST(run.call(arguments) == run.eager(arguments));
  }
}

BOOST_AUTO_TEST_CASE(beyond_64_bits_the_interpreter_continues) {
  GraphRun run(kSum, kSumGraph);
  const char* arguments = "(range(2 ** 62, 2 ** 62 + 9),)";
  BOOST_TEST(run.call(arguments) == run.eager(arguments));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tagalong::replay
