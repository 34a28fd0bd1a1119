// Executors run from C++: values, guards, exceptions with their frames, drops, reference counts.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/replay/executor_support.h"

namespace tagalong::replay {
namespace {

constexpr const char* kAdd = R"(graph 'f'
frame 0: <#0 code f>, function %0
%0 = function
%1 = param[0]
%2 = param[1]
guard_type{<class 'int'>} %1 @0
guard_type{<class 'int'>} %2 @0
%3 = int_binary[+] %1, %2 @1
return_value %3
snapshot 0: frame 0, instruction $f.LOAD_FAST, locals [%1, %2], stack []
snapshot 1: frame 0, instruction $f.BINARY_OP, locals [%1, %2], stack [%1, %2]
)";

// f calls g, which is inlined; f handles the exception of g's addition.
constexpr const char* kHandled = R"(
def g(a):
    b = a + 1
    return b

def f(x):
    try:
        y = g(x)
    except TypeError as error:
        y = lines(error)
    return [x, y]

objects = [f.__code__, g.__code__]
)";

constexpr const char* kHandledGraph = R"(graph 'f'
frame 0: <#0 code f>, function %0
frame 1: <#1 code g>, function %3, parent 0
%0 = function
%1 = param[0]
%2 = null
%3 = load_global{'g'} %0 @0
guard_function{<#1 code g>} %3 @1
%4 = constant{1}
%5 = binary_op[+] %1, %4 @3
leave_frame[1]
drop %3
%6 = build_list %1, %5
drop %5
return_value %6 @4
snapshot 0: frame 0, instruction $f.LOAD_GLOBAL, locals [%1, -, -], stack []
snapshot 1: frame 0, instruction $f.PRECALL, locals [%1, -, -], stack [%2, %3, %1]
snapshot 2: frame 0, instruction $f.CALL, locals [%1, -, -], stack []
snapshot 3: frame 1, instruction $g.BINARY_OP, parent 2, locals [%1, -], stack [%1, %4]
snapshot 4: frame 0, instruction $f.RETURN_VALUE, locals [%1, -, -], stack []
)";

}  // namespace

BOOST_AUTO_TEST_SUITE(executor_runs)

BOOST_AUTO_TEST_CASE(a_result_is_returned) {
  GraphRun run("def f(x, y): return x + y\nobjects = [f.__code__]", kAdd);
  BOOST_TEST(run.call("(3, 4)") == "returned 7");
  BOOST_TEST(run.call("(2**70, 1)") == "returned 1180591620717411303425");
  BOOST_TEST(run.executor->hits == 2U);
}

BOOST_AUTO_TEST_CASE(a_guard_that_fails_is_named) {
  GraphRun run("def f(x, y): return x + y\nobjects = [f.__code__]", kAdd);
  BOOST_TEST(run.call("(3, 4.0)") == "guard guard_type");
  BOOST_TEST(run.call("(True, 4)") == "guard guard_type");  // bool is not exactly int
  BOOST_TEST(run.executor->hits == 0U);
  BOOST_TEST(run.executor->entry_guards().size() == 2U);
  BOOST_TEST(run.executor->steps()[run.executor->entry_guards()[1]].failures == 1U);
}

BOOST_AUTO_TEST_CASE(an_operation_of_exact_numbers_that_raises_is_done_again_by_the_interpreter) {
  GraphRun run("def f(x, y): return x // y\nobjects = [f.__code__]", R"(graph 'f'
frame 0: <#0 code f>, function %0
%0 = function
%1 = param[0]
%2 = param[1]
%3 = int_binary[//] %1, %2 @0
return_value %3
snapshot 0: frame 0, instruction $f.BINARY_OP, locals [%1, %2], stack [%1, %2]
)");
  BOOST_TEST(run.call("(7, 2)") == "returned 3");
  BOOST_TEST(run.call("(7, 0)") == "raised ZeroDivisionError('integer division or modulo by zero')");
  BOOST_TEST(run.executor->exits == 1U);
}

BOOST_AUTO_TEST_CASE(an_exception_of_an_inlined_frame_reaches_the_handler_of_its_caller) {
  GraphRun run(std::string(kTracebackSource) + kHandled, kHandledGraph);
  BOOST_TEST(run.call("(1,)") == "returned [1, 2]");
  BOOST_TEST(run.call("('text',)") == run.eager("('text',)"));
  BOOST_TEST(run.call("('text',)") == "returned ['text', [('f', 15), ('g', 10)]]");
}

// The same with the exception and its handler in the graph.
BOOST_AUTO_TEST_CASE(an_exception_of_an_inlined_frame_is_handled_in_the_graph) {
  GraphRun run(std::string(kTracebackSource) + kHandled, R"(graph 'f'
frame 0: <#0 code f>, function %0
frame 1: <#1 code g>, function %3, parent 0
%0 = function
%1 = param[0]
%2 = null
%3 = load_global{'g'} %0 @0
guard_function{<#1 code g>} %3 @1
%4 = constant{1}
%5 = binary_op[+] %1, %4 @3
guard_raised @5
drop %5
traceback_entry @6
leave_frame[1] @6
drop %3
traceback_entry @2
%6 = catch_exception @2
%7 = push_exc_info %6
%8 = load_global{'lines'} %0 @7
%9 = call{None} %2, %8, %6 @7
drop %8
pop_except %7
drop %6, %7
%10 = build_list %1, %9
drop %9
return_value %10 @4
snapshot 0: frame 0, instruction $f.LOAD_GLOBAL, locals [%1, -, -], stack []
snapshot 1: frame 0, instruction $f.PRECALL, locals [%1, -, -], stack [%2, %3, %1]
snapshot 2: frame 0, instruction $f.CALL, locals [%1, -, -], stack []
snapshot 3: frame 1, instruction $g.BINARY_OP, parent 2, locals [%1, -], stack [%1, %4]
snapshot 4: frame 0, instruction $f.RETURN_VALUE, locals [%1, -, -], stack []
snapshot 5: frame 1, instruction $g.STORE_FAST, parent 2, locals [%1, -], stack [%5]
snapshot 6: frame 1, instruction $g.BINARY_OP, parent 2, locals [%1, -], stack []
snapshot 7: frame 0, instruction $f.PUSH_EXC_INFO, locals [%1, -, -], stack [%6]
)");
  BOOST_TEST(run.call("('text',)") == run.eager("('text',)"));
  BOOST_TEST(run.call("('text',)") == "returned ['text', [('f', 15), ('g', 10)]]");
  BOOST_TEST(run.executor->hits == 2U);
  BOOST_TEST(run.executor->exits == 0U);
  BOOST_TEST(run.call("(1,)") == "guard guard_raised");
  BOOST_TEST((PyErr_GetHandledException() == nullptr));
}

BOOST_AUTO_TEST_CASE(another_function_than_the_inlined_one_does_not_pass) {
  GraphRun run(std::string(kTracebackSource) + kHandled, kHandledGraph);
  run.names.run("g = lambda a: a * 2");
  BOOST_TEST(run.call("(1,)") == "guard guard_function");
  run.names.run("del g");  // load_global takes a side exit: the interpreter raises, and not into the handler
  BOOST_TEST(run.call("(1,)") == R"(raised NameError("name 'g' is not defined"))");
}

BOOST_AUTO_TEST_CASE(an_unhandled_exception_has_the_lines_of_every_frame) {
  GraphRun run(std::string(kTracebackSource) + R"(
def g(a):
    b = a + 1
    return b

def f(x):
    y = g(x)
    return [x, y]

objects = [f.__code__, g.__code__]
)",
               R"(graph 'f'
frame 0: <#0 code f>, function %0
frame 1: <#1 code g>, function %2, parent 0
%0 = function
%1 = param[0]
%2 = load_global{'g'} %0 @0
guard_function{<#1 code g>} %2 @0
%3 = constant{1}
%4 = binary_op[+] %1, %3 @2
leave_frame[1]
drop %2
return_value %4
snapshot 0: frame 0, instruction $f.LOAD_GLOBAL, locals [%1, -], stack []
snapshot 1: frame 0, instruction $f.CALL, locals [%1, -], stack []
snapshot 2: frame 1, instruction $g.BINARY_OP, parent 1, locals [%1, -], stack [%1, %3]
)");
  const Ref argument = run.names("'text'");
  PyObject* slots[] = {argument.get(), nullptr};
  Run call;
  call.thread = PyThreadState_Get();
  call.function = reinterpret_cast<PyObject*>(run.names.function("f"));
  call.slots = slots;
  BOOST_TEST((run.executor->run(call) == Outcome::kRaised));
  PyObject* parts[3] = {};
  PyErr_Fetch(&parts[0], &parts[1], &parts[2]);
  PyErr_NormalizeException(&parts[0], &parts[1], &parts[2]);
  PyException_SetTraceback(parts[1], parts[2]);
  run.names.set("error", parts[1]);
  for (PyObject* part : parts) {
    Py_XDECREF(part);
  }
  BOOST_TEST(run.names.show("lines(error)") == "[('f', 14), ('g', 10)]");
  BOOST_TEST(run.names.show("error.__traceback__.tb_next.tb_frame.f_locals") == "{'a': 'text'}");
  BOOST_TEST(run.names.show("error.__traceback__.tb_next.tb_frame.f_back is error.__traceback__.tb_frame") == "True");
}

BOOST_AUTO_TEST_CASE(a_trace_that_ends_early_continues_in_the_interpreter) {
  GraphRun run("def f(x):\n    y = x + 1\n    return y * 2\nobjects = [f.__code__]", R"(graph 'f'
frame 0: <#0 code f>, function %0
%0 = function
%1 = param[0]
%2 = constant{1}
%3 = binary_op[+] %1, %2 @0
leave @1
snapshot 0: frame 0, instruction $f.BINARY_OP, locals [%1, -], stack [%1, %2]
snapshot 1: frame 0, instruction $f.STORE_FAST, locals [%1, -], stack [%3]
)");
  BOOST_TEST(run.call("(3,)") == "returned 8");
  BOOST_TEST(run.call("('a',)") == run.eager("('a',)"));
}

BOOST_AUTO_TEST_CASE(values_die_where_the_graph_drops_them) {
  GraphRun run(R"(
log = []
class Noisy:
    def __init__(self, name): self.name = name
    def __del__(self): log.append(self.name)
def f(x):
    a, b = x(), x()
    del b
    x('between')
    return a
def make(name=None, numbers=iter(range(100))):
    if name is None:
        return Noisy(next(numbers))
    log.append(name)
objects = [f.__code__]
)",
               R"(graph 'f'
frame 0: <#0 code f>, function %0
%0 = function
%1 = param[0]
%2 = null
%3 = call{None} %2, %1 @0
%4 = call{None} %2, %1 @0
drop %4
%5 = constant{'between'}
%6 = call{None} %2, %1, %5 @0
drop %3
return_value %6
snapshot 0: frame 0, instruction $f.CALL, locals [%1, -, -], stack [%2, %1]
)");
  BOOST_TEST(run.call("(make,)") == "returned None");
  BOOST_TEST(run.names.show("log") == "[1, 'between', 0]");
}

// A real frame of an inlined function releases a local's old value where the program rebinds the local, not later.
BOOST_AUTO_TEST_CASE(sync_local_binds_a_slot_of_a_real_frame) {
  GraphRun run(R"(
import sys
seen = []
class Noisy:
    def __del__(self): seen.append('dead')
def look():
    seen.append(dict(sys._getframe(1).f_locals)['a'].__class__.__name__)
def g(a):
    look()
    a = 1
    look()
    return a
def f(make):
    return g(make())
objects = [f.__code__, g.__code__]
)",
               R"(graph 'f'
frame 0: <#0 code f>, function %0
frame 1: <#1 code g>, function %4, parent 0
%0 = function
%1 = param[0]
%2 = null
%3 = call{None} %2, %1 @0
%4 = load_global{'g'} %0 @1
guard_function{<#1 code g>} %4 @1
%5 = load_global{'look'} %4 @3
%6 = call{None} %2, %5 @4
%7 = constant{1}
sync_local[0]{1} %7
drop %3
%8 = call{None} %2, %5 @5
leave_frame[1]
drop %4
return_value %7
snapshot 0: frame 0, instruction $f.CALL, locals [%1], stack [%2, %1]
snapshot 1: frame 0, instruction $f.CALL.1, locals [%1], stack [%3]
snapshot 2: frame 0, instruction $f.CALL.1, locals [%1], stack []
snapshot 3: frame 1, instruction $g.LOAD_GLOBAL, parent 2, locals [%3], stack []
snapshot 4: frame 1, instruction $g.CALL, parent 2, locals [%3], stack [%2, %5]
snapshot 5: frame 1, instruction $g.CALL.1, parent 2, locals [%7], stack [%2, %5]
)");
  BOOST_TEST(run.call("(Noisy,)") == "returned 1");
  BOOST_TEST(run.names.show("seen") == "['Noisy', 'dead', 'int']");
}

BOOST_AUTO_TEST_CASE(a_call_that_takes_over_its_last_argument_may_let_it_die) {
  GraphRun run(R"(
log = []
class Noisy:
    def __del__(self): log.append('dead')
def take(a):
    del a
    log.append('after del')
def f(make):
    return take(make())
objects = [f.__code__]
)",
               R"(graph 'f'
frame 0: <#0 code f>, function %0
%0 = function
%1 = param[0]
%2 = null
%3 = load_global{'take'} %0 @0
%4 = call{None} %2, %1 @1
%5 = call{None} %2, %3, %4 @2
drop %3, %4
return_value %5
snapshot 0: frame 0, instruction $f.LOAD_GLOBAL, locals [%1], stack []
snapshot 1: frame 0, instruction $f.CALL, locals [%1], stack [%2, %3, %2, %1]
snapshot 2: frame 0, instruction $f.CALL.1, locals [%1], stack [%2, %3, %4]
)");
  BOOST_TEST(run.call("(Noisy,)") == "returned None");
  BOOST_TEST(run.names.show("log") == "['dead', 'after del']");
  BOOST_TEST(run.eager("(Noisy,)") == "returned None");
  BOOST_TEST(run.names.show("log[2:]") == "['dead', 'after del']");
}

BOOST_AUTO_TEST_CASE(more_values_than_registers_on_the_stack) {
  std::string text = "graph 'f'\nframe 0: <#0 code f>, function %0\n%0 = function\n%1 = param[0]\n";
  std::string list = "%2";
  constexpr int kValues = 400;
  for (int value = 2; value < 2 + kValues; ++value) {
    text += fmt::format("%{} = binary_op[+] %1, %{} @0\n", value, value - 1);
    list += value == 2 ? "" : fmt::format(", %{}", value);
  }
  text += fmt::format("%{} = build_list {}\nreturn_value %{}\n", 2 + kValues, list, 2 + kValues);
  text += "snapshot 0: frame 0, instruction $f.BINARY_OP, locals [%1], stack [%1, %1]\n";
  GraphRun run("def f(x): return x + x\nobjects = [f.__code__]", text);
  run.names.set("result", run.names("[k * 3 for k in range(2, 402)]").get());
  BOOST_TEST(run.call("(3,)") == "returned " + run.names.show("result"));
}

BOOST_AUTO_TEST_CASE(references_are_back_where_they_were) {
  GraphRun run(std::string(kTracebackSource) + kHandled, kHandledGraph);
  GraphRun add("def f(x, y): return x + y\nobjects = [f.__code__]", kAdd);
  const auto round = [&] {
    run.call("(1,)");
    run.call("('text',)");
    add.call("(3, 4)");
    add.call("(3, 4.0)");
  };
  for (int warm = 0; warm < 20; ++warm) {
    round();
  }
  const Ref sentinel = run.names("'some text'");
  run.names.set("sentinel", sentinel.get());
  PyObject* code = run.names.function("g")->func_code;
  const Py_ssize_t code_count = Py_REFCNT(code);
  const Py_ssize_t function_count = Py_REFCNT(run.names.function("g"));
  const Py_ssize_t count = Py_REFCNT(sentinel.get());
  const Py_ssize_t blocks = testing::allocated_blocks();
  for (int repeat = 0; repeat < 100; ++repeat) {
    round();
    run.call("(sentinel,)");
  }
  BOOST_TEST(Py_REFCNT(sentinel.get()) == count);
  BOOST_TEST(Py_REFCNT(code) == code_count);
  BOOST_TEST(Py_REFCNT(run.names.function("g")) == function_count);
  constexpr Py_ssize_t kNoise = 20;  // changes of free lists and the like; a leak would be hundreds
  BOOST_TEST(testing::allocated_blocks() - blocks < kNoise);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
