// The parts of an executor as text.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

#include "replay/codegen/printer.h"
#include "replay/executor/printer.h"
#include "replay/steps/printer.h"
#include "tests/replay/executor_support.h"

namespace tagalong::replay {
namespace {

constexpr const char* kArea = R"(
def f(width, height):
    area = width * height
    return area

objects = [f.__code__]
)";

constexpr const char* kAreaGraph = R"(graph 'f'
frame 0: <#0 code f>
%0 = param[0]
%1 = param[1]
guard_type{<class 'int'>} %0 @0
guard_type{<class 'int'>} %1 @0
%2 = int_binary[*] %0, %1 @1
sync_local[2]{0} %2
drop %0
return_value %2 @2
snapshot 0: frame 0, instruction $f.LOAD_FAST, locals [%0, %1, -], stack []
snapshot 1: frame 0, instruction $f.BINARY_OP, locals [%0, %1, -], stack [%0, %1]
snapshot 2: frame 0, instruction $f.RETURN_VALUE, locals [-, %1, %2], stack [%2]
)";

constexpr const char* kCount = R"(
def f(count):
    number = 0
    while number < count:
        number = number + 1
    return number

objects = [f.__code__]
)";

constexpr const char* kCountGraph = R"(graph 'f'
frame 0: <#0 code f>
%0 = param[0]
%1 = param[1]
guard_type{<class 'int'>} %0 @0
guard_type{<class 'int'>} %1 @0
%2 = constant{1}
%3, %4 = loop[2]{'ii'} %0, %1 @0
drop %0, %1
%5 = int_compare[<] %4, %3
guard_true %5 @1
drop %5
%6 = int_binary[+] %4, %2 @2
drop %4
sync_local[1]{0} %6
jump_back[1] %3, %6 @3
snapshot 0: frame 0, instruction $f.LOAD_FAST, locals [%0, %1], stack []
snapshot 1: frame 0, instruction $f.RETURN_VALUE, locals [%3, %4], stack [%4]
snapshot 2: frame 0, instruction $f.BINARY_OP, locals [%3, %4], stack [%4, %2]
snapshot 3: frame 0, instruction $f.POP_JUMP_BACKWARD_IF_TRUE, locals [%3, %6], stack []
)";

BOOST_AUTO_TEST_SUITE(executor_text)

BOOST_AUTO_TEST_CASE(steps) {
  const GraphRun run(kArea, kAreaGraph);
  const std::string text = print_steps(run.executor->lowered());
  BOOST_TEST(text.substr(0, text.find("snapshot")) == R"(steps of f: 5 registers
r0 = null
r1 = the function
step 0: r2 = param[0]
step 1: r3 = param[1]
step 2: guard_type{<class 'int'>} r2, or misses @0
step 3: guard_type{<class 'int'>} r3, or misses @0
step 4: r4 = int_binary[*] r2, r3, may raise as @1
step 5: sync_local[2]{0} r4, drops r2
step 6: return_value r4, @2
)");
  BOOST_TEST(text.ends_with("locals [-, r3, r4], stack [r4]\n"));
  BOOST_TEST(print_loop(run.executor->lowered()) == "");
  BOOST_TEST(print_kernels(*run.executor) == "");
  BOOST_TEST(placed_code(*run.executor).empty());
}

BOOST_AUTO_TEST_CASE(loops) {
  const GraphRun run(kCount, kCountGraph);
  BOOST_TEST(print_loop(run.executor->lowered()) == R"(loop of f: 4 operations
register r5: int
register r6: int
register r7: bool
parameter r5 from r3: int
parameter r6 from r4: int
invariant r2: int
0: guard_less_int r6, r5, or leaves as @1  ; step 6
1: r6 = add_int r6, r2  ; step 7
2: clear r6  ; step 7
3: poll_and_jump to 0  ; step 9
snapshot 1: numbers in r5 r6
snapshot 2: numbers in r5 r6
snapshot 3: numbers in r5 r6
)");
}

BOOST_AUTO_TEST_CASE(code) {
  constexpr std::array<std::uint8_t, 17> kCode = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
                                                  0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3};
  const std::string text = native::dump_code({kCode.data(), kCode.size(), "nothing"});
  BOOST_TEST(text.starts_with("nothing: 17 bytes at 0x"));
  BOOST_TEST(text.ends_with("\n  000000 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90\n  000010 c3\n"));
  const std::string instructions = native::disassemble_code({kCode.data(), kCode.size(), "nothing"});
  BOOST_TEST((instructions.empty() || instructions.find("ret") != std::string::npos));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tagalong::replay
