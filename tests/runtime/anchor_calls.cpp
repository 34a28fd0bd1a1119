// Calls of functions with replay code: the entry stub, the anchor's choice, redirects at side exits.
#include <boost/test/unit_test.hpp>
#include <string>

#include "rewriter/cpython/code_link.h"
#include "runtime/base/options.h"
#include "runtime/records/anchor.h"
#include "runtime/records/replay_code.h"
#include "tests/runtime/support.h"

namespace tagalong::runtime {

BOOST_AUTO_TEST_SUITE(anchor_calls)

BOOST_AUTO_TEST_CASE(the_first_call_is_recorded_and_the_next_ones_hit) {
  const Traced traced("def f(x):\n    return x + 1\n", "f");
  BOOST_TEST(traced.call("f(1)") == "2: record");
  BOOST_TEST(traced.call("f(2)") == "3: hit");
  BOOST_TEST(traced.call("f(-1)") == "0: hit");
  BOOST_TEST(traced.record("f").code.entries.front().executors.size() == 1U);
  BOOST_TEST(traced.record("f").code.counters.hits == 2U);
}

BOOST_AUTO_TEST_CASE(a_miss_records_another_graph_and_the_last_hit_is_tried_first) {
  const Traced traced("def f(x):\n    return x + 1\n", "f");
  BOOST_TEST(traced.call("f(1)") == "2: record");
  BOOST_TEST(traced.call("f(1.5)") == "2.5: miss record");
  const auto newest = traced.record("f").code.entries.front().executors.front();
  BOOST_TEST(traced.call("f(2)") == "3: hit");
  BOOST_TEST((traced.record("f").code.entries.front().executors.back() == newest));
  BOOST_TEST(traced.call("f(2.5)") == "3.5: hit");
  BOOST_TEST((traced.record("f").code.entries.front().executors.front() == newest));
}

// Everything before the exit happens once, in the graph, and everything behind it in the interpreter.
BOOST_AUTO_TEST_CASE(a_side_exit_continues_at_the_other_branch) {
  const Traced traced(R"(
log = []
def f(x):
    log.append(x)
    n = len(log)
    if x.real > 3:
        log.append('big')
    else:
        log.append('small')
    return n
)",
                      "f");
  BOOST_TEST(traced.call("f(1)") == "1: record");
  BOOST_TEST(traced.call("f(2)") == "3: hit");
  BOOST_TEST(traced.call("f(5)") == "5: hit exit");
  BOOST_TEST(traced.show("log") == "[1, 'small', 2, 'small', 5, 'big']");
}

// The values on the stack at the exit: below the redirect's value, and with NULL among them.
BOOST_AUTO_TEST_CASE(a_side_exit_restores_the_value_stack) {
  const Traced traced(R"(
def pair(*items): return items
def f(x, y):
    return pair(x.real, [x], 'a' if y.real else 'b', *() if y.imag else (y,))
def g(x, y):
    return [x, x.real, max(x.real, y.real if y.real > 1 else -y.real)]
)",
                      "f g");
  BOOST_TEST(traced.call("f(1, 2)") == "(1, [1], 'a', 2): record");
  BOOST_TEST(traced.call("f(3, 4)") == "(3, [3], 'a', 4): hit");
  BOOST_TEST(traced.call("f(5, 0)") == "(5, [5], 'b', 0): hit exit");
  BOOST_TEST(traced.call("f(5, 2j)") == "(5, [5], 'b'): hit exit");
  BOOST_TEST(traced.call("g(1, 2)") == "[1, 1, 2]: record");
  BOOST_TEST(traced.call("g(1, 3)") == "[1, 1, 3]: hit");
  BOOST_TEST(traced.call("g(1, -3)") == "[1, 1, 3]: hit exit");
}

BOOST_AUTO_TEST_CASE(an_exception_reaches_the_handler_of_its_own_frame) {
  const Traced traced(R"(
log = []
def f(x):
    log.append('in')
    try:
        y = 10 // x.real
    except ZeroDivisionError as error:
        log.append(error.__traceback__.tb_lineno)
        y = None
    finally:
        log.append('out')
    return y
)",
                      "f");
  BOOST_TEST(traced.call("f(5)") == "2: record");
  BOOST_TEST(traced.call("f(2)") == "5: hit");
  BOOST_TEST(traced.call("f(0)") == "None: hit exit");
  BOOST_TEST(traced.show("log") == "['in', 'out', 'in', 'out', 'in', 6, 'out']");
}

BOOST_AUTO_TEST_CASE(an_unhandled_exception_leaves_with_its_lines) {
  const Traced traced(R"(
def inner(x):
    return x.missing
def f(x):
    y = [x]
    return inner(y[0])
class Full: missing = 7
def lines(call):
    try:
        return call()
    except AttributeError as error:
        found, entry = [], error.__traceback__
        while entry is not None:
            found.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
            entry = entry.tb_next
        return found
)",
                      "f");
  BOOST_TEST(traced.call("f(Full())") == "7: record");
  BOOST_TEST(traced.call("f(Full())") == "7: hit");
  BOOST_TEST(traced.call("lines(lambda: f(5))") ==
             "[('lines', 10), ('<lambda>', 1), ('f', 6), ('inner', 3)]: hit exit");
}

BOOST_AUTO_TEST_CASE(an_exception_that_was_recorded_is_raised_and_handled_in_the_graph) {
  const Traced traced(R"(
log = []
def f(x):
    log.append(x)
    try:
        raise KeyError(x)
    except KeyError as error:
        return error.args
)",
                      "f");
  BOOST_TEST(traced.call("f(1)") == "(1,): record");
  BOOST_TEST(traced.call("f(2)") == "(2,): hit");
  BOOST_TEST(traced.show("log") == "[1, 2]");
}

BOOST_AUTO_TEST_CASE(an_exit_with_an_empty_stack_uses_a_pad) {
  const Traced traced("def f(x):\n    y = [x]\n    if x.real:\n        y.append(1)\n    return y\n", "f");
  const TracedCode& code = traced.record("f").code;
  int pads = 0;
  for (std::size_t index = 0; index < code.replay_code.pads.size(); ++index) {
    const bool is_empty = code.decoded().shape->depths[index] == 0;
    BOOST_TEST((code.replay_code.pads[index] >= 0) == is_empty);
    pads += is_empty ? 1 : 0;
  }
  BOOST_TEST(pads > 3);
  BOOST_TEST(traced.call("f(1)") == "[1, 1]: record");
  BOOST_TEST(traced.call("f(0)") == "[0]: hit exit");
}

BOOST_AUTO_TEST_CASE(a_watched_thread_runs_the_original_instructions) {
  const Traced traced(R"(
import sys
def f(x):
    return x + 1
def watched():
    lines = []
    def tracer(frame, event, argument):
        if frame.f_code.co_name == 'f':
            lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return tracer
    sys.settrace(tracer)
    try:
        f(1)
    finally:
        sys.settrace(None)
    return lines
)",
                      "f");
  const std::string expected = "[('call', 0), ('line', 1), ('return', 1)]:";
  BOOST_TEST(traced.call("watched()") == expected);
  BOOST_TEST(traced.call("f(1)") == "2: record");
  BOOST_TEST(traced.call("watched()") == expected);
}

// A redirect goes through a Python function of ours, whose return must be hidden from a profile function.
BOOST_AUTO_TEST_CASE(a_profile_function_sees_the_events_of_eager_execution) {
  const Traced traced(R"(
import sys
seen = []
def profiler(frame, event, argument): seen.append((event, frame.f_code.co_name))
def g(x): return x
def start(on):
    if on:
        sys.setprofile(profiler)
def f(on):
    start(on)
    a = g(1)
    sys.setprofile(None)
    return a
def eager(on):
    start(on)
    a = g(1)
    sys.setprofile(None)
    return a
def events(call):
    seen.clear()
    call(1)
    return [event for event, name in seen], [name for event, name in seen[:3]]
)",
                      "f");
  const std::string expected = traced.show("events(eager)");
  BOOST_TEST(expected.starts_with("(['return', 'call', 'return', 'c_call'], ['start', 'g', 'g'])"));
  BOOST_TEST(traced.call("events(f)").starts_with(expected + ": record"));
  BOOST_TEST(traced.call("events(f)").starts_with(expected + ": hit exit"));
  BOOST_TEST(traced.call("events(f)").starts_with(expected + ": hit exit"));
}

BOOST_AUTO_TEST_CASE(code_called_by_an_executor_may_discard_it) {
  const Traced traced(R"(
def f(x, action):
    y = [x]
    action()
    return y
def replace():
    f.__code__ = other.__code__
def other(x, action):
    return 'other'
def nothing(): pass
)",
                      "f");
  BOOST_TEST(traced.call("f(1, [].clear)") == "[1]: record");
  BOOST_TEST(traced.call("f(2, [].clear)") == "[2]: hit");
  BOOST_TEST(traced.call("f(3, replace)") == "[3]: hit");
  BOOST_TEST(traced.call("f(4, [].clear)") == "'other':");
}

BOOST_AUTO_TEST_CASE(replay_code_is_made_once_and_knows_its_original) {
  const testing::Namespace names("def f(x): return x\ndef g():\n    yield 1\n");
  const CodeRef original = names.code("f");
  const CodeRef replay = replay_code_of(original.get());
  BOOST_TEST(replay.get() != original.get());
  BOOST_TEST(replay_code_of(original.get()).get() == replay.get());
  BOOST_TEST(replay_code_of(replay.get()).get() == replay.get());
  BOOST_TEST(cpython::original_of(replay.get()) == original.get());
  BOOST_TEST(anchor_of(original.get()) == anchor_of(replay.get()));
  const CodeRef generator = names.code("g");
  const CodeRef generator_replay = replay_code_of(generator.get());
  BOOST_TEST(generator_replay.get() != generator.get());
  BOOST_TEST(cpython::original_of(generator_replay.get()) == generator.get());
}

BOOST_AUTO_TEST_CASE(an_anchor_dies_with_its_code) {
  const testing::Namespace names("def f(x): return x\n");
  const CodeRef original = names.code("f");
  {
    const CodeRef replay = replay_code_of(original.get());
    BOOST_TEST(anchor_of(original.get()) != nullptr);
  }
  BOOST_TEST(anchor_of(original.get()) == nullptr);
}

BOOST_AUTO_TEST_CASE(nested_functions_of_a_wrapped_code_are_traced) {
  const OptionsGuard guard;
  set_option("share", 100'000'000);
  const testing::Namespace names;
  const Ref module = names("compile('def f(x):\\n    return x * 2\\n', 'm', 'exec')");
  const CodeRef wrapped = wrap_nested(reinterpret_cast<PyCodeObject*>(module.get()));
  names.set("module", reinterpret_cast<PyObject*>(wrapped.get()));
  names.run("exec(module)");
  start_events();
  BOOST_TEST(names.show("[f(2), f(3)]") == "[4, 6]");
  const std::vector<std::string> events = stop_events();
  const std::vector<std::string> expected = {"record", "hit"};
  BOOST_TEST(events == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::runtime
