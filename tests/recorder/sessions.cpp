// Sessions: what is recorded for small functions, as graph text; inlining; why recordings stop.
#include <boost/test/unit_test.hpp>
#include <string>

#include "rewriter/cpython/eval_hook.h"
#include "tests/recorder/support.h"

namespace tagalong::recorder {

using replay::Op;

BOOST_AUTO_TEST_SUITE(sessions)

BOOST_AUTO_TEST_CASE(arithmetic_on_an_argument) {
  Recorder recorder("def f(x):\n    return x * x + 1\n");
  BOOST_TEST(recorder.record("f", "(3,)") == "returned 10");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.text() == R"(graph 'f'
frame 0: <#0 code f>
%0 = function
%1 = param[0]
guard_type{<class 'int'>} %1 @0
%2 = int_binary[*] %1, %1 @0
%3 = constant{1}
%4 = int_binary[+] %2, %3 @1
drop %2 @1
return_value %4 @2
snapshot 0: frame 0, instruction 3, locals [%1], stack [%1, %1]
snapshot 1: frame 0, instruction 5, locals [%1], stack [%2, %3]
snapshot 2: frame 0, instruction 6, locals [%1], stack []
)");
}

BOOST_AUTO_TEST_CASE(a_branch_is_a_guard_on_its_outcome) {
  Recorder recorder("def f(x, y):\n    if x > y:\n        return x\n    return y\n");
  BOOST_TEST(recorder.record("f", "(1.5, 2.5)") == "returned 2.5");
  BOOST_TEST(recorder.text() == R"(graph 'f'
frame 0: <#0 code f>
%0 = function
%1 = param[0]
%2 = param[1]
guard_type{<class 'float'>} %1 @0
guard_type{<class 'float'>} %2 @0
%3 = float_compare[>] %1, %2
guard_false %3 @2
drop %3 @1
return_value %2 @3
snapshot 0: frame 0, instruction 3, locals [%1, %2], stack [%1, %2]
snapshot 1: frame 0, instruction 4, locals [%1, %2], stack [%3]
snapshot 2: frame 0, instruction 5, locals [%1, %2], stack []
snapshot 3: frame 0, instruction 8, locals [%1, %2], stack []
)");
}

BOOST_AUTO_TEST_CASE(a_callee_is_recorded_into_the_graph) {
  Recorder recorder("def g(a, b=2):\n    return a - b\ndef f(x):\n    return g(x)\n");
  BOOST_TEST(recorder.record("f", "(10,)") == "returned 8");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_REQUIRE(recorder.graph().frames.size() == 2U);
  BOOST_TEST(recorder.graph().frames[1].parent == 0);
  BOOST_TEST(recorder.count(Op::call) == 0);
  BOOST_TEST(recorder.count(Op::guard_function) == 1);
  BOOST_TEST(recorder.count(Op::function_default) == 1);
  BOOST_TEST(recorder.count(Op::leave_frame) == 1);
}

BOOST_AUTO_TEST_CASE(a_callee_that_may_not_be_recorded_is_an_opaque_call) {
  Recorder recorder("def g(a):\n    return a - 1\ndef f(x):\n    return g(x)\n");
  recorder.opaque = "g";
  BOOST_TEST(recorder.record("f", "(10,)") == "returned 9");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.graph().frames.size() == 1U);
  BOOST_TEST(recorder.count(Op::call) == 1);
}

BOOST_AUTO_TEST_CASE(callees_are_recorded_to_a_depth) {
  Recorder recorder("def c(x): return x + 1\ndef b(x): return c(x)\ndef a(x): return b(x)\ndef f(x): return a(x)\n");
  for (int depth = 0; depth < 4; ++depth) {
    recorder.limits.inline_depth = depth;
    BOOST_TEST(recorder.record("f", "(1,)") == "returned 2");
    BOOST_TEST(static_cast<int>(recorder.graph().frames.size()) == depth + 1);
    BOOST_TEST(recorder.count(Op::call) == (depth < 3 ? 1 : 0));
  }
}

BOOST_AUTO_TEST_CASE(a_loop_is_unrolled) {
  Recorder recorder(
      "def f(items):\n    total = 0\n    for item in items:\n        total = total + item\n    return total\n");
  BOOST_TEST(recorder.record("f", "([1, 2, 3],)") == "returned 6");
  BOOST_TEST(recorder.count(Op::for_iter) == 4);
  BOOST_TEST(recorder.count(Op::guard_not_null) == 3);
  BOOST_TEST(recorder.count(Op::guard_null) == 1);
}

BOOST_AUTO_TEST_CASE(a_recording_stops_at_its_limits) {
  Recorder recorder("def f(n):\n    total = 0\n    for k in range(n):\n        total += k\n    return total\n");
  recorder.limits.unroll = 3;
  BOOST_TEST(recorder.record("f", "(10,)") == "returned 45");
  BOOST_TEST(recorder.stop() == "unroll_limit");
  BOOST_TEST(recorder.count(Op::for_iter) == 4);
  BOOST_TEST(recorder.count(Op::leave) == 1);
  recorder.limits.unroll = 1000;
  recorder.limits.nodes = 25;
  BOOST_TEST(recorder.record("f", "(10,)") == "returned 45");
  BOOST_TEST(recorder.stop() == "node_limit");
  BOOST_TEST(recorder.graph().nodes.size() > 20U);
  BOOST_TEST(recorder.graph().nodes.size() < 35U);
}

BOOST_AUTO_TEST_CASE(an_exception_is_recorded_into_its_handler) {
  Recorder recorder(
      "def f(x):\n    try:\n        return x.missing\n    except AttributeError:\n        return 'caught'\n");
  BOOST_TEST(recorder.record("f", "(1,)") == "returned 'caught'");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.count(Op::guard_raised) == 1);
  BOOST_TEST(recorder.count(Op::traceback_entry) == 1);
  BOOST_TEST(recorder.count(Op::catch_exception) == 1);
  BOOST_TEST(recorder.count(Op::push_exc_info) == 1);
  BOOST_TEST(recorder.count(Op::pop_except) == 1);
  BOOST_TEST(recorder.count(Op::return_value) == 1);
}

BOOST_AUTO_TEST_CASE(an_exception_that_leaves_the_root_ends_the_trace) {
  Recorder recorder("def f(x):\n    y = [x]\n    y.append(x)\n    raise KeyError(x)\n");
  BOOST_TEST(recorder.record("f", "(1,)") == "raised KeyError(1)");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.count(Op::raise) == 1);
  // The interpreter makes the traceback's entry for the root frame.
  BOOST_TEST(recorder.count(Op::traceback_entry) == 0);
  BOOST_TEST((recorder.graph().nodes.back().op == Op::raise_out));
}

BOOST_AUTO_TEST_CASE(an_exception_unwinds_a_recorded_callee_into_its_caller) {
  Recorder recorder(
      "def g(x):\n    return x.missing\n"
      "def f(x):\n    y = [x]\n    try:\n        return g(x)\n    except AttributeError:\n        return y\n");
  BOOST_TEST(recorder.record("f", "(1,)") == "returned [1]");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.count(Op::traceback_entry) == 2);
  BOOST_TEST(recorder.count(Op::leave_frame) == 1);
  BOOST_TEST(recorder.count(Op::return_value) == 1);
}

BOOST_AUTO_TEST_CASE(a_reraised_exception_gets_no_second_entry) {
  Recorder recorder("def f(x):\n    try:\n        return x.missing\n    finally:\n        x = [x]\n");
  BOOST_TEST(recorder.record("f", "(1,)").starts_with("raised AttributeError"));
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.count(Op::traceback_entry) == 1);
  BOOST_TEST(recorder.count(Op::reraise) == 1);  // into the cleanup of the handler, from there out of the root
  BOOST_TEST((recorder.graph().nodes.back().op == Op::reraise_out));
}

BOOST_AUTO_TEST_CASE(a_generator_is_not_recorded_but_run) {
  Recorder recorder("def g(n):\n    yield n\n    yield n + 1\ndef f(x):\n    return list(g(x))\n");
  BOOST_TEST(recorder.record("f", "(1,)") == "returned [1, 2]");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.graph().frames.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_recording_that_only_read_its_arguments_is_not_useful) {
  Recorder recorder("def f(x):\n    y = x\n    return [y]\n");
  recorder.limits.nodes = 1;
  BOOST_TEST(recorder.record("f", "(1,)") == "returned [1]");
  BOOST_TEST(recorder.stop() == "node_limit");
  BOOST_TEST(!recorder.is_useful());
}

BOOST_AUTO_TEST_CASE(code_that_is_no_function_is_refused) {
  const testing::Namespace names("def g():\n    yield 1\n");
  BOOST_TEST(DecodedCode::make(names.code("g").get())->is_generator);
  const Ref module = names("compile('x = 1', 'm', 'exec')");
  BOOST_TEST(DecodedCode::make(reinterpret_cast<PyCodeObject*>(module.get()))->is_namespace);
}

BOOST_AUTO_TEST_CASE(python_code_called_by_c_code_is_not_recorded) {
  Recorder recorder("def key(x):\n    return -x\ndef f(items):\n    return sorted(items, key=key)\n");
  BOOST_TEST(recorder.record("f", "([1, 3, 2],)") == "returned [3, 2, 1]");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.graph().frames.size() == 1U);
  BOOST_TEST(recorder.count(Op::call) == 1);
}

BOOST_AUTO_TEST_CASE(code_behind_many_such_calls_is_recorded) {
  Recorder recorder(
      "def key(x):\n    return -x\ndef first(items):\n    return items[0]\n"
      "def f(count):\n    return first(sorted(range(count), key=key))\n");
  BOOST_TEST(recorder.record("f", "(40,)") == "returned 39");
  BOOST_TEST(recorder.stop() == "none");
  BOOST_TEST(recorder.graph().frames.size() == 2U);
  BOOST_TEST(!cpython::has_hook());
  BOOST_TEST(recorder.record("f", "('x',)").starts_with("raised TypeError"));
  BOOST_TEST(!cpython::has_hook());
}

BOOST_AUTO_TEST_CASE(recording_leaves_no_references_behind) {
  Recorder recorder(
      "sentinel = 12345.5\ndef g(a):\n    return [a, a * 2]\ndef f(x):\n    y = g(x)\n    return y[1] if y[0] is x "
      "else None\n");
  const Ref sentinel = recorder("sentinel");
  for (int warm = 0; warm < 5; ++warm) {
    recorder.record("f", "(sentinel,)");
  }
  const Py_ssize_t count = Py_REFCNT(sentinel.get());
  const Py_ssize_t code_count = Py_REFCNT(recorder.function("f")->func_code);
  const Py_ssize_t function_count = Py_REFCNT(recorder.function("g"));
  for (int repeat = 0; repeat < 50; ++repeat) {
    BOOST_TEST(recorder.record("f", "(sentinel,)") == "returned 24691.0");
  }
  BOOST_TEST(Py_REFCNT(sentinel.get()) == count);
  BOOST_TEST(Py_REFCNT(recorder.function("f")->func_code) == code_count);
  BOOST_TEST(Py_REFCNT(recorder.function("g")) == function_count);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::recorder
