// Options, limits, events, recordings as objects, and unchanged reference counts.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "runtime/base/options.h"
#include "runtime/graph_object.h"
#include "runtime/recording.h"
#include "runtime/records/anchor.h"
#include "tests/runtime/support.h"

namespace tagalong::runtime {

BOOST_AUTO_TEST_SUITE(limits_and_counts)

BOOST_AUTO_TEST_CASE(options_are_set_by_name) {
  const OptionsGuard guard;
  for (const char* name : {"nodes", "unroll", "inline_depth", "entries_per_anchor", "retries", "stack", "stress"}) {
    BOOST_TEST(set_option(name, 1), name);
  }
  BOOST_TEST(!set_option("no_such_option", 1));
  BOOST_TEST(options().limits.retries == 1);
  BOOST_TEST(options().limits.nodes == 1);
  BOOST_TEST(options().stress);
}

BOOST_AUTO_TEST_CASE(an_anchor_keeps_no_more_graphs_than_allowed) {
  const OptionsGuard guard;
  set_option("entries_per_anchor", 2);
  const Traced traced("def f(x):\n    return x + x\n", "f");
  BOOST_TEST(traced.call("f(1)") == "2: record");
  BOOST_TEST(traced.call("f(1.5)") == "3.0: miss record");
  BOOST_TEST(traced.call("f('a')") == "'aa': miss");
  BOOST_TEST(traced.call("f('a')") == "'aa': miss");
  BOOST_TEST(traced.record("f").code.entries.front().executors.size() == 2U);
  BOOST_TEST(explain(traced.record("f")).find("limit `entries_per_anchor` (") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(recordings_in_vain_come_to_an_end) {
  const OptionsGuard guard;
  set_option("retries", 3);
  const Traced traced("def f(x):\n    raise KeyError(x)\n", "f");
  int records = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const std::string seen = traced.call("f(1)");
    BOOST_TEST(seen.starts_with("raised KeyError(1)"));
    records += seen.find("record") != std::string::npos ? 1 : 0;
  }
  BOOST_TEST(records >= 1);
  BOOST_TEST(records <= 3);
}

BOOST_AUTO_TEST_CASE(a_graph_has_no_more_nodes_than_allowed) {
  const OptionsGuard guard;
  set_option("nodes", 30);
  set_option("unroll", 1000);
  const Traced traced("def f(n):\n    total = 0\n    for k in range(n):\n        total += k\n    return total\n", "f");
  BOOST_TEST(traced.call("f(50)") == "1225: record stop:node_limit");
  BOOST_TEST(traced.call("f(50)") == "1225: hit exit");
  BOOST_TEST(traced.record("f").code.entries.front().executors.front()->graph().nodes.size() < 40U);
}

BOOST_AUTO_TEST_CASE(a_loop_is_unrolled_no_further_than_allowed) {
  const OptionsGuard guard;
  set_option("unroll", 5);
  const Traced traced("def f(n):\n    total = 0\n    for k in range(n):\n        total += k\n    return total\n", "f");
  BOOST_TEST(traced.call("f(50)") == "1225: record stop:unroll_limit");
  BOOST_TEST(traced.call("f(50)") == "1225: hit exit");
  BOOST_TEST(traced.call("f(3)") == "3: hit exit");
}

BOOST_AUTO_TEST_CASE(executors_nest_while_there_is_stack) {
  const OptionsGuard guard;
  set_option("stack", 7800);  // KiB; the C stack usually has 8192
  const Traced traced(
      "def f(n, call):\n    return [n, n and call(f, n - 1, call)]\ndef through(f, n, call): return f(n, call)\n", "f");
  traced.run("from functools import reduce\ncall = lambda f, n, call: list(map(f, [n], [call]))");
  const std::string expected = traced.show("repr([3, [[2, [[1, [[0, 0]]]]]]])");
  BOOST_TEST(traced.show("repr(f(3, call))") == expected);
  for (int repeat = 0; repeat < 5; ++repeat) {
    BOOST_TEST(traced.show("repr(f(3, call))") == expected);
  }
  BOOST_TEST(traced.show("len(repr(f(60, call)))") == traced.show("len(repr(f(60, call)))"));
}

BOOST_AUTO_TEST_CASE(events_are_those_of_the_time_between_start_and_stop) {
  const Traced traced("def f(x):\n    return x + 1\n", "f");
  const std::uint64_t hits = totals().hits;
  BOOST_TEST(traced.show("f(1)") == "2");  // not listed, but counted
  start_events();
  BOOST_TEST(traced.show("f(1)") == "2");
  const std::vector<std::string> one = {"hit"};
  const std::vector<std::string> none;
  BOOST_TEST(stop_events() == one, boost::test_tools::per_element());
  BOOST_TEST(stop_events() == none, boost::test_tools::per_element());
  BOOST_TEST(totals().hits == hits + 1);
}

BOOST_AUTO_TEST_CASE(a_recording_replays_or_says_which_guard_fails) {
  const testing::Namespace names("def f(x, y=2):\n    return x * y\n");
  const Ref function = names("f");
  const Recording recording(function, names("(3,)"), names("{}"));
  BOOST_TEST(testing::repr(recording.result.get()) == "6");
  BOOST_REQUIRE(recording.executor() != nullptr);
  const auto replay = [&](const char* args, const char* kwargs) {
    const Ref result = Ref::steal(recording.replay(names(args).get(), names(kwargs).get()));
    return result ? testing::repr(result.get()) : "raised " + testing::take_exception();
  };
  BOOST_TEST(replay("(5,)", "{}") == "10");
  BOOST_TEST(replay("()", "{'y': 4, 'x': 5}") == "20");
  BOOST_TEST(replay("('a',)", "{}").starts_with("raised GuardFailed"));
  BOOST_TEST(replay("()", "{}").starts_with("raised TypeError(\"f() missing 1 required"));
  BOOST_TEST(testing::repr(function.get()) == names.show("f"));
  BOOST_TEST(reinterpret_cast<PyObject*>(recording.original_code.get()) ==
             reinterpret_cast<PyFunctionObject*>(function.get())->func_code);
}

BOOST_AUTO_TEST_CASE(a_recording_keeps_the_exception_of_its_run) {
  const testing::Namespace names("def f(x):\n    return x.missing\n");
  const Recording recording(names("f"), names("(3,)"), names("{}"));
  BOOST_TEST(!recording.result);
  BOOST_TEST(testing::repr(recording.exception.get()) ==
             R"(AttributeError("'int' object has no attribute 'missing'"))");
  BOOST_TEST((recording.stop == recorder::Stop::kNone));
}

BOOST_AUTO_TEST_CASE(references_are_back_where_they_were) {
  const OptionsGuard guard;
  const Traced traced(R"(
class Box:
    def __init__(self, value): self.value = value
    def get(self, more=1): return self.value + more
def helper(x, *rest, **named):
    return [x, rest, named]
def f(x, flag):
    box = Box(x)
    items = helper(box.get(), x, key=x)
    if flag.real > 1:
        items.append(lambda: x)
    try:
        return items[flag]
    except IndexError:
        return None
def rounds(n):
    for _ in range(n):
        f(1, 0); f(2, 1); f(3, 2); f(4, 50); f(2.5, 0); f(sentinel, 0)
sentinel = 123456.75
)",
                      "f");
  set_option("retire_after", 0);
  traced.run("rounds(50)");
  const Ref sentinel = traced("sentinel");
  const Py_ssize_t count = Py_REFCNT(sentinel.get());
  const Py_ssize_t helper_count = Py_REFCNT(traced.function("helper"));
  const Py_ssize_t code_count = Py_REFCNT(traced.function("helper")->func_code);
  const std::uint64_t hits = traced.record("f").code.counters.hits;
  const std::uint64_t exits = traced.record("f").code.counters.exits;
  const Py_ssize_t blocks = testing::allocated_blocks();
  traced.run("rounds(200)");
  BOOST_TEST(traced.record("f").code.counters.hits > hits + 600);
  BOOST_TEST(traced.record("f").code.counters.exits > exits + 200);
  BOOST_TEST(Py_REFCNT(sentinel.get()) == count);
  BOOST_TEST(Py_REFCNT(traced.function("helper")) == helper_count);
  BOOST_TEST(Py_REFCNT(traced.function("helper")->func_code) == code_count);
  constexpr Py_ssize_t kNoise = 50;  // a leak would be 200 or more
  BOOST_TEST(testing::allocated_blocks() - blocks < kNoise);
}

BOOST_AUTO_TEST_CASE(everything_is_gone_when_the_functions_are) {
  const auto round = [] {
    const Traced traced("def g(x): return x * 2\ndef f(x):\n    return g(x) + len([x])\n", "f");
    BOOST_TEST(traced.call("f(2)") == "5: record");
    BOOST_TEST(traced.call("f(3)") == "7: hit");
    BOOST_TEST(traced.call("f(3.5)").starts_with("8.0: miss"));
  };
  const auto collect = [] { testing::Namespace("import gc\ngc.collect()\n"); };
  for (int warm = 0; warm < 20; ++warm) {
    round();
  }
  collect();
  round();  // objects that died in the collection are freed in the next call
  collect();
  const Py_ssize_t blocks = testing::allocated_blocks();
  for (int repeat = 0; repeat < 50; ++repeat) {
    round();
  }
  collect();
  round();
  collect();
  constexpr Py_ssize_t kNoise = 50;
  BOOST_TEST(testing::allocated_blocks() - blocks < kNoise);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::runtime
