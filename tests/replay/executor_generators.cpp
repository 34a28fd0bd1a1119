// Generators that a graph resumes, for a `for` and for consumers written in C: to the end, and with a side exit at each
// possible place. The oracle is f itself.
#include <fmt/format.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/replay/executor_support.h"

namespace tagalong::replay {
namespace {

constexpr const char* kGenerator = R"(
import weakref
def g(a, b):
    yield a
    yield b
)";

struct Consumed {
  const char* name;
  const char* result;  // the value that f returns, as an expression of `it`
  const char* callable;
  const char* nodes;     // nodes that make the state: values from %4 on
  const char* state;     // the state above the generator
  const char* consumer;  // the consumer, with its number of values while it waits
  int values;
  std::vector<const char*> arguments;
};

std::ostream& operator<<(std::ostream& out, const Consumed& consumed) { return out << consumed.name; }

constexpr const char* kNewList = "%4 = build_list @0\nbegin_extend %4 @0\n";

const std::vector<Consumed> kConsumed = {
    {"sum", "sum(it)", "sum", "%4 = constant{0}\n", ", %4", "sum", 2, {"1, 2", "1.5, 2", "1, 'a'", "'a', 1"}},
    {"list", "list(it)", "list", kNewList, ", %4", "list", 2, {"1, 2"}},
    {"tuple", "tuple(it)", "tuple", kNewList, ", %4", "tuple", 2, {"1, 2"}},
    {"sorted", "sorted(it)", "sorted", kNewList, ", %4, %2, %2", "sort", 4, {"2, 1", "2, 'a'"}},
    {"set", "set(it)", "set", "%4 = build_set @0\n", ", %4", "set", 2, {"1, 1", "1, []", "[], 1"}},
    {"dict",
     "dict(it)",
     "dict",
     "%4 = build_map @0\n",
     ", %4",
     "dict",
     2,
     {"(1, 2), (3, 4)", "(1, 2), 'ab'", "(1, 2), 5", "(1, 2), (1, 2, 3)", "5, 6"}},
    {"any", "any(it)", "any", "", "", "any", 1, {"0, 0", "0, 1", "1, 0"}},
    {"all", "all(it)", "all", "", "", "all", 1, {"1, 1", "0, 1", "1, 0"}},
    {"min", "min(it)", "min", "", ", %2, %2", "smallest", 3, {"1, 2", "2, 1", "1, 'a'"}},
    {"max", "max(it)", "max", "", ", %2, %2", "largest", 3, {"1, 2", "2, 1", "1, 'a'"}},
    {"next", "next(it)", "next", "", "", "next", 1, {"1, 2"}},
};

// Where the trace ends: in front of the yield, with the item, or in front of the first resumption.
enum class End : std::uint8_t { kInBody, kWithItem, kBefore };

GraphRun consumer(const Consumed& consumed, End end) {
  const std::string source = fmt::format(
      "{}def f(it): return {}\nobjects = [f.__code__, g.__code__, {}, (weakref.ref(g.__code__), bytes([1, 1]))]",
      kGenerator, consumed.result, consumed.callable);
  const char* nodes = end == End::kInBody     ? "%10, %11, %12 = enter_generator[3]{1} %1 @1\nleave @2\n"
                      : end == End::kWithItem ? "%10, %11, %12 = enter_generator[3]{1} %1 @1\n"
                                                "leave_generator[1] %11 @2\ndrop %10, %12\nleave @3\n"
                                              : "leave @1\n";
  std::string text = fmt::format(
      R"(graph 'f'
frame 0: <#0 code f>
{}%0 = function
%1 = param[0]
%2 = null
%3 = constant{{<#2 callable>}}
{}guard_generator[0]{{<#3 pair>}} %1 @0
{}snapshot 0: frame 0, instruction $f.PRECALL, locals [%1], stack [%2, %3, %1]
snapshot 1: frame 0, instruction $f.CALL, locals [%1], stack [%2, %3, %1, %1{}], {} values {}, items 0, pops 3, results 1
)",
      end == End::kBefore ? "" : "frame 1: <#1 code g>, function %10, parent 0, returns consumer\n", consumed.nodes,
      nodes, consumed.state, consumed.consumer, consumed.values);
  if (end != End::kBefore) {
    text += fmt::format(
        R"(snapshot 2: frame 1, instruction $g.YIELD_VALUE, parent 1, locals [%11, %12], stack [%11]
snapshot 3: frame 0, instruction $f.CALL, locals [%1], stack [%2, %3, %1, %1{}, %11], {} values {}, items 0, pops 3, results 1, next
)",
        consumed.state, consumed.consumer, consumed.values + 1);
  }
  return {source, text};
}

void compare(GraphRun& run, const std::vector<const char*>& arguments) {
  for (const char* each : arguments) {
    const std::string made = fmt::format("(g({}),)", each);
    BOOST_TEST(run.call(made) == run.eager(made), each);
    const Py_ssize_t blocks = testing::allocated_blocks();
    for (int round = 0; round < 20; ++round) {
      run.call(made);
    }
    BOOST_TEST(testing::allocated_blocks() - blocks < 20, each);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(executor_generators)

BOOST_DATA_TEST_CASE(a_consumer_goes_on_behind_the_body, boost::unit_test::data::make(kConsumed)) {
  GraphRun run = consumer(sample, End::kInBody);
  compare(run, sample.arguments);
}

BOOST_DATA_TEST_CASE(a_consumer_goes_on_with_its_item, boost::unit_test::data::make(kConsumed)) {
  GraphRun run = consumer(sample, End::kWithItem);
  compare(run, sample.arguments);
}

BOOST_DATA_TEST_CASE(a_consumer_goes_on_from_its_beginning, boost::unit_test::data::make(kConsumed)) {
  GraphRun run = consumer(sample, End::kBefore);
  compare(run, sample.arguments);
}

BOOST_AUTO_TEST_CASE(a_consumer_unpacks) {
  const std::string source =
      fmt::format("{}{}", kGenerator,
                  "def f(it):\n    a, b = it\n    return [a, b]\n"
                  "objects = [f.__code__, g.__code__, (weakref.ref(g.__code__), bytes([1, 1]))]");
  GraphRun run(source, R"(graph 'f'
frame 0: <#0 code f>
frame 1: <#1 code g>, function %2, parent 0, returns consumer
%0 = function
%1 = param[0]
guard_generator[0]{<#2 pair>} %1 @0
%2, %3, %4 = enter_generator[3]{1} %1 @1
leave_generator[1] %3 @2
drop %2, %4
leave @3
snapshot 0: frame 0, instruction $f.UNPACK_SEQUENCE, locals [%1, -, -], stack [%1]
snapshot 1: frame 0, instruction $f.UNPACK_SEQUENCE, locals [%1, -, -], stack [%1, %1], unpack values 1, items 0, pops 1, results 2
snapshot 2: frame 1, instruction $g.YIELD_VALUE, parent 1, locals [%3, %4], stack [%3]
snapshot 3: frame 0, instruction $f.UNPACK_SEQUENCE, locals [%1, -, -], stack [%1, %1, %3], unpack values 2, items 0, pops 1, results 2, next
)");
  compare(run, {"1, 2"});
}

// A graph of `for` that ends with `end`.
std::string loop(const std::string& end) {
  return R"(graph 'f'
frame 0: <#0 code f>
frame 1: <#1 code g>, function %4, parent 0, returns generator, operation $f.LOAD_FAST.2
%0 = function
%1 = param[0]
%2 = constant{0}
%3 = get_iter %1 @0
guard_generator[0]{<#2 pair>} %3 @1
%4, %5, %6 = enter_generator[3]{1} %3 @1
)" + end +
         R"(snapshot 0: frame 0, instruction $f.GET_ITER, locals [%1, %2, -], stack [%1]
snapshot 1: frame 0, instruction $f.FOR_ITER, locals [%1, %2, -], stack [%3]
snapshot 2: frame 1, instruction $g.YIELD_VALUE, parent 1, locals [%5, %6], stack [%5]
snapshot 3: frame 0, instruction $f.STORE_FAST.1, locals [%1, %2, -], stack [%3, %5]
)";
}

BOOST_AUTO_TEST_CASE(a_loop_continues_behind_the_body) {
  const std::string source =
      fmt::format("{}{}", kGenerator,
                  "def f(it):\n    total = 0\n    for x in it:\n        total += x\n    return total\n"
                  "objects = [f.__code__, g.__code__, (weakref.ref(g.__code__), bytes([1, 1]))]");
  GraphRun inside(source, loop("leave @2\n"));
  compare(inside, {"1, 2", "1, 'a'"});
  GraphRun behind(source, loop("leave_generator[1] %5 @2\ndrop %4, %6\nleave @3\n"));
  compare(behind, {"1, 2", "1, 'a'"});
  BOOST_TEST(behind.call("([1],)") == "guard guard_generator");
}

// The guard checks which locals are bound.
BOOST_AUTO_TEST_CASE(a_generator_at_another_place_fails_the_guard) {
  GraphRun run = consumer(kConsumed.front(), End::kBefore);
  run.names.run("begun = g(1, 2)\nnext(begun)\ndone = g(1, 2)\nlist(done)\ndef h(a, b):\n    yield a");
  for (const char* arguments : {"(begun,)", "(done,)", "(h(1, 2),)", "([1],)", "(None,)"}) {
    BOOST_TEST(run.call(arguments) == "guard guard_generator", arguments);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
