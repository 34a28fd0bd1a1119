// The text of graphs: printed text parses back, and malformed text is refused with its position.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "replay/ir/literals.h"
#include "replay/ir/operators.h"
#include "replay/ir/parser.h"
#include "replay/ir/printer.h"
#include "replay/ir/verifier.h"

namespace tagalong::replay {
namespace {

Ref evaluate(const std::string& expression) {
  const Ref globals = Ref::steal(PyDict_New());
  PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins());
  Ref result = Ref::steal(PyRun_String(expression.c_str(), Py_eval_input, globals.get(), globals.get()));
  if (!result) {
    PyErr_Print();
  }
  BOOST_REQUIRE(result);
  return result;
}

constexpr const char* kText =
    R"(graph 'outer.<locals>.f'
frame 0: <#0 code f>, function %0
frame 1: -, function %3, parent 0, returns none, instance %4
%0 = function
%1 = param[0]
%2 = param[1]
guard_type{<class 'float'>} %1 @0  ; line 12
%3, %4 = load_method{'exp'} %1 @0  ; line 12
%5 = binary_op[+] %1, %2 @1  ; line 13
%6 = compare_op[<=] %5, %1 @1
%7 = is_op[is not] %5, %6
%8 = constant{(1.5, 'x\n', None, b'\x00')}
%9 = unary_op[-] %8 @1
%10 = array_call %9, %8 @1
guard_is{<#1 built-in len>} %10 @1
guard_type_version[17]{<class 'list'>} %10 @1
%11, %12 = unpack_sequence[2] %10 @1
leave_frame[1]
drop %11
return_value %12
snapshot 0: frame 0, instruction 17, locals [%1, -], stack []
snapshot 1: frame 1, instruction 3, parent 0, locals [], stack [%4, %1]
object 0: code f
object 1: built-in len
)";

std::vector<Ref> objects_of_text() {
  return {evaluate("compile('def f(): pass', 'x', 'exec').co_consts[0]"), evaluate("len")};
}

void check_error(const std::string& text, int line, int column, const std::string& message) {
  try {
    static_cast<void>(parse(text));
    BOOST_ERROR("no error for: " + text);
  } catch (const ParseError& error) {
    BOOST_TEST(error.line() == line, text << ": " << error.what());
    BOOST_TEST(error.column() == column, text << ": " << error.what());
    BOOST_TEST(std::string(error.what()).find(message) != std::string::npos, text << ": " << error.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_text)

BOOST_AUTO_TEST_CASE(text_there_and_back) {
  const std::vector<Ref> objects = objects_of_text();
  const Graph graph = parse(kText, objects);
  BOOST_TEST(print(graph) == kText);
  BOOST_TEST(verify(graph) == std::vector<std::string>{}, boost::test_tools::per_element());
  const std::vector<Ref> table = object_table(graph);
  BOOST_REQUIRE(table.size() == 2U);
  BOOST_TEST(table[0].get() == objects[0].get());
  BOOST_TEST(table[1].get() == objects[1].get());
  BOOST_TEST(same_graph(parse(print(graph), table), graph));
}

BOOST_AUTO_TEST_CASE(options) {
  const Graph graph = parse(kText, objects_of_text());
  const std::string text = print(graph, {.lines = false, .snapshots = false, .objects = false});
  BOOST_TEST(text.find("line 12") == std::string::npos);
  BOOST_TEST(text.find("snapshot 0") == std::string::npos);
  BOOST_TEST(text.find("object 0") == std::string::npos);
  BOOST_TEST(print_node(graph, 3) == "guard_type{<class 'float'>} %1 @0  ; line 12");
}

BOOST_AUTO_TEST_CASE(literals_read_back_exactly) {
  for (const std::string& expression :
       std::vector<std::string>{"None",
                                "True",
                                "Ellipsis",
                                "0",
                                "-5",
                                "2**63",
                                "-2**63",
                                "-7**300",
                                "10**6000",
                                "0.1",
                                "-0.0",
                                "1e300",
                                "5e-324",
                                "float('inf')",
                                "-float('inf')",
                                "float('nan')",
                                "-float('nan')",
                                "1j",
                                "complex(-0.0, -0.0)",
                                "complex(float('nan'), 1)",
                                "''",
                                R"('a\'b"c\\')",
                                R"('\x00\x7f\xe9\u20ac\U0001f600\ud800')",
                                "'}%@;'",
                                "b''",
                                R"(b'\x00\xff\'\n')",
                                "()",
                                "(1,)",
                                "((1, (2.5, 'x')), frozenset({1, 'a', b'c', (None,)}), frozenset())"}) {
    const Ref object = evaluate(expression);
    const auto text = literal(object.get());
    BOOST_REQUIRE_MESSAGE(text, expression);
    std::size_t position = 0;
    const Ref again = parse_literal(*text, position);
    BOOST_TEST(position == text->size(), expression);
    BOOST_TEST((Py_TYPE(again.get()) == Py_TYPE(object.get())), expression);
    BOOST_TEST(literal(again.get()).value() == *text, expression);
    const Ref dumps = evaluate("__import__('marshal').dumps");
    const Ref left = Ref::steal(PyObject_CallFunction(dumps.get(), "Oi", object.get(), 2));
    const Ref right = Ref::steal(PyObject_CallFunction(dumps.get(), "Oi", again.get(), 2));
    // The order of a marshalled set is undefined.
    const bool is_set = expression.find("frozenset") != std::string::npos;
    BOOST_TEST((is_set || PyObject_RichCompareBool(left.get(), right.get(), Py_EQ) == 1), expression);
    BOOST_TEST((!is_set || PyObject_RichCompareBool(object.get(), again.get(), Py_EQ) == 1), expression);
  }
}

BOOST_AUTO_TEST_CASE(objects_without_a_literal) {
  for (const std::string& expression : std::vector<std::string>{
           "[]", "{}", "len", "int", "type('T', (int,), {})(3)", "(1, [])", "type('S', (str,), {})('x')",
           R"(__import__('struct').unpack('d', b'\x01\0\0\0\0\0\xf8\x7f')[0])"}) {
    BOOST_TEST(!literal(evaluate(expression).get()).has_value(), expression);
  }
}

BOOST_AUTO_TEST_CASE(nesting_ends_in_the_table) {
  Ref nested = evaluate("()");
  for (int i = 0; i < 1000; ++i) {
    nested = Ref::steal(PyTuple_Pack(1, nested.get()));
  }
  BOOST_TEST(!literal(nested.get()).has_value());
  check_error("%0 = constant{" + std::string(1000, '('), 1, 46, "nested too deeply");
}

BOOST_AUTO_TEST_CASE(descriptions_keep_to_their_line) {
  const Ref odd = evaluate("[f for f in [lambda: 0] if [setattr(f, '__qualname__', 'a>\\nb}')]][0]");
  Graph graph;
  graph.add(Op::constant, {}, 0, odd);
  BOOST_TEST(print(graph) == "%0 = constant{<#0 function a??b}>}\nobject 0: function a??b}\n");
  BOOST_TEST(same_graph(parse(print(graph), {odd}), graph));
}

BOOST_AUTO_TEST_CASE(errors_say_where) {
  check_error("%0 = param[0]\n  nonsense %0\n", 2, 3, "no operation is named 'nonsense'");
  check_error("%0 = param[x]", 1, 12, "expected an integer");
  check_error("%0 = constant{1.2.3}", 1, 15, "'1.2.3' is no literal");
  check_error("%0 = constant{'abc}", 1, 20, "string without end");
  check_error(R"(%0 = constant{'\q'})", 1, 17, "unknown escape");
  check_error("%0 = constant{<#0 list object>}", 1, 17, "object 0 is not in the table of 0");
  check_error("%0 = constant{<class 'sys.path'>}", 1, 23, "built-in type");
  check_error("%0, %2 = load_method{'x'} %1", 1, 5, "without gaps");
  check_error("%0 = param[0] %1 %2", 1, 18, "end of the line");
  check_error("snapshot 1: frame 0", 1, 10, "expected number 0");
  check_error("snapshot 0: frame 0, instruction 1, locals [%0", 1, 47, "expected ']'");
  check_error("frame 0: -, father 1", 1, 13, "expected function, parent");
  check_error("%99999999 = param[0]", 1, 2, "no value has this number");
  check_error("%0 = ", 1, 6, "expected a name");
}

BOOST_AUTO_TEST_CASE(every_truncation_reads_or_says_where) {
  const std::string text = kText;
  const std::vector<Ref> objects = objects_of_text();
  int errors = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    try {
      static_cast<void>(verify(parse(text.substr(0, size), objects)));
    } catch (const ParseError&) {
      ++errors;
    }
    BOOST_REQUIRE(PyErr_Occurred() == nullptr);
  }
  BOOST_TEST(errors > 300);
}

BOOST_AUTO_TEST_CASE(operators_as_in_the_interpreter) {
  const auto check = [](Op op, const std::string& expression, std::size_t at_least) {
    const Ref rows = evaluate(expression);
    BOOST_REQUIRE(static_cast<std::size_t>(PyList_GET_SIZE(rows.get())) >= at_least);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows.get()); ++i) {
      PyObject* row = PyList_GET_ITEM(rows.get(), i);
      const std::string text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(row, 1));
      const long number = PyLong_AsLong(PyTuple_GET_ITEM(row, 0));
      BOOST_TEST(operator_text(op, number).value_or("none") == text);
      BOOST_TEST(operator_number(op, text).value_or(-1) == number);
    }
  };
  check(Op::binary_op, "[(i, o[1]) for i, o in enumerate(__import__('opcode')._nb_ops)][:26]", 26);
  check(Op::compare_op, "list(enumerate(__import__('opcode').cmp_op))", 6);
  check(Op::unary_op, "[(0, '-'), (1, '+'), (2, '~')]", 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
