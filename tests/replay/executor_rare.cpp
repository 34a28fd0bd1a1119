// Operations that execute one bytecode instruction in the interpreter, and unpacking: each on valid operands and on
// operands that raise, with f itself as the oracle. An exception leaves the graph at f's instruction, so f must contain
// it.
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/replay/executor_support.h"

namespace tagalong::replay {
namespace {

struct Rare {
  const char* name;
  const char* source;    // defines f
  const char* nodes;     // %0 is the function, %1 and %2 the arguments, %3 null
  const char* snapshot;  // number 0
  std::vector<const char*> arguments;
};

std::ostream& operator<<(std::ostream& out, const Rare& rare) { return out << rare.name; }

const std::vector<Rare> kRare = {
    {"unpack_sequence",
     "def f(x, y):\n    a, b = x\n    return [a, b]",
     "%4, %5 = unpack_sequence[2] %1 @0\n%6 = build_list %4, %5\nreturn_value %6",
     "instruction $f.UNPACK_SEQUENCE, locals [%1, %2, -, -], stack [%1]",
     {"((1, 2), 0)", "([1, 2], 0)", "('ab', 0)", "({1: 0, 2: 0}, 0)", "((1, 2, 3), 0)", "([1], 0)", "('a', 0)",
      "(5, 0)"}},
    {"unpack_ex",
     "def f(x, y):\n    a, *b, c = x\n    return [a, b, c]",
     "%4, %5, %6 = unpack_ex[3]{1} %1 @0\n%7 = build_list %4, %5, %6\nreturn_value %7",
     "instruction $f.UNPACK_EX, locals [%1, %2, -, -, -], stack [%1]",
     {"((1, 2, 3, 4), 0)", "('ab', 0)", "([1], 0)", "(None, 0)"}},
    {"list_extend",
     "def f(x, y): return [x, *y]",
     "%4 = build_list %1\nlist_extend %4, %2 @0\nreturn_value %4",
     "instruction $f.LIST_EXTEND, locals [%1, %2], stack [%4, %2]",
     {"(1, (2, 3))", "(1, 'ab')", "(1, 5)"}},
    {"set_update",
     "def f(x, y): return {x, *y}",
     "%4 = build_set %1 @1\nset_update %4, %2 @0\nreturn_value %4",
     "instruction $f.SET_UPDATE, locals [%1, %2], stack [%4, %2]",
     {"(1, (1, 2))", "(1, [[]])", "(1, 5)", "([], ())"}},
    {"dict_update",
     "def f(x, y): return {'a': x, **y}",
     "%4 = constant{'a'}\n%5 = build_map %4, %1 @1\ndict_update %5, %2 @0\nreturn_value %5",
     "instruction $f.DICT_UPDATE, locals [%1, %2], stack [%5, %2]",
     {"(1, {'b': 2})", "(1, {'a': 2})", "(1, 5)", "(1, [('b', 2)])"}},
    {"dict_merge",
     "def f(x, y): return dict(**x, **y)",
     "%4 = load_global{'dict'} %0 @1\n%5 = build_map @1\ndict_merge %5, %1, %4 @1\n"
     "%6 = constant{()}\ndict_merge %5, %2, %4 @0\n%7 = call_ex %4, %6, %5 @1\nreturn_value %7",
     "instruction $f.DICT_MERGE.1, locals [%1, %2], stack [%3, %4, %6, %5, %2]",
     {"({'a': 1}, {'b': 2})", "({'a': 1}, {'a': 2})", "({'a': 1}, 5)", "({'a': 1}, {1: 2})"}},
    {"build_const_key_map",
     "def f(x, y): return {'a': x, 'b': y}",
     "%4 = constant{('a', 'b')}\n%5 = build_const_key_map %1, %2, %4 @0\nreturn_value %5",
     "instruction $f.BUILD_CONST_KEY_MAP, locals [%1, %2], stack [%1, %2, %4]",
     {"(1, 2)"}},
    {"import_name",
     "def f(x, y):\n    import os.path as p\n    return p.sep",
     "%4 = constant{0}\n%5 = constant{None}\n%6 = import_name{'os.path'} %0, %4, %5 @0\n"
     "%7 = import_from{'path'} %6 @1\n%8 = load_attr{'sep'} %7 @1\nreturn_value %8",
     "instruction $f.IMPORT_NAME, locals [%1, %2, -], stack [%4, %5]",
     {"(1, 2)"}},
    {"import_of_nothing",
     "def f(x, y):\n    import no_such_module_of_ours",
     "%4 = constant{0}\n%5 = constant{None}\n%6 = import_name{'no_such_module_of_ours'} %0, %4, %5 @0\nreturn_value %5",
     "instruction $f.IMPORT_NAME, locals [%1, %2, -], stack [%4, %5]",
     {"(1, 2)"}},
    {"import_from_nothing",
     "def f(x, y):\n    from os import no_such_name\n",
     "%4 = constant{0}\n%5 = constant{('no_such_name',)}\n%6 = import_name{'os'} %0, %4, %5 @1\n"
     "%7 = import_from{'no_such_name'} %6 @0\nreturn_value %7",
     "instruction $f.IMPORT_FROM, locals [%1, %2, -], stack [%6]",
     {"(1, 2)"}},
    {"match_keys",
     "def f(x, y):\n    match x:\n        case {'a': n, 'b': m}: return [n, m]",
     "%4 = constant{('a', 'b')}\n%5 = match_keys %1, %4 @0\n%6, %7 = unpack_sequence[2] %5 @0\n"
     "%8 = build_list %6, %7\nreturn_value %8",
     "instruction $f.MATCH_KEYS, locals [%1, %2, -, -], stack [%1, %4]",
     {"({'a': 1, 'b': 2}, 0)"}},
    {"match_class",
     "class C:\n    __match_args__ = ('p', 'q')\n    p, q = 5, 6\n    def __repr__(self): return 'a C'\n"
     "class Few:\n    __match_args__ = ('p',)\n    p = 1\n"
     "class Wrong:\n    __match_args__ = 5\n"
     "def f(x, y):\n    match x:\n        case y.kind(p, q=r): return [p, r]",
     "%4 = load_attr{'kind'} %2 @1\n%5 = constant{('q',)}\n%6 = match_class[1] %1, %4, %5 @0\n"
     "%7, %8 = unpack_sequence[2] %6 @0\n%9 = build_list %7, %8\nreturn_value %9",
     "instruction $f.MATCH_CLASS, locals [%1, %2, -, -], stack [%1, %4, %5]",
     {"(C(), type('K', (), {'kind': C}))", "(Wrong(), type('K', (), {'kind': Wrong}))",
      "(C(), type('K', (), {'kind': 5}))"}},
    {"before_with",
     "class M:\n    def __enter__(self): return 'entered'\n    def __exit__(self, *all): return None\n"
     "class NoExit:\n    def __enter__(self): return 1\n"
     "class Raises(M):\n    def __enter__(self): raise KeyError('no')\n"
     "def f(x, y):\n    with x as z:\n        return z",
     "%4, %5 = before_with %1 @0\nreturn_value %5",
     "instruction $f.BEFORE_WITH, locals [%1, %2, -], stack [%1]",
     {"(M(), 0)", "(NoExit(), 0)", "(5, 0)", "(Raises(), 0)"}},
    {"delete_global",
     "def f(x, y):\n    global gone\n    gone = x\n    del gone\n    del gone\n",
     "store_global{'gone'} %0, %1 @1\ndelete_global{'gone'} %0 @1\ndelete_global{'gone'} %0 @0\n"
     "%4 = constant{None}\nreturn_value %4",
     "instruction $f.DELETE_GLOBAL.1, locals [%1, %2], stack []",
     {"(1, 2)"}},
    {"load_build_class",
     "def f(x, y):\n    class C: pass\n    return C.__name__",
     "%4 = load_build_class %0 @0\n%5 = load_attr{'__name__'} %4 @0\n%6 = constant{'C'}\nreturn_value %6",
     "instruction $f.LOAD_BUILD_CLASS, locals [%1, %2, -], stack [%3]",
     {"(1, 2)"}},
    {"call_ex",
     "def f(x, y): return x(*y)",
     "%4 = call_ex %1, %2 @0\nreturn_value %4",
     "instruction $f.CALL_FUNCTION_EX, locals [%1, %2], stack [%3, %1, %2]",
     {"(max, (1, 2))", "(max, [1, 2])", "(max, 5)", "(5, (1,))", "(max, ('a', 1))"}},
    {"format_value",
     "def f(x, y): return f'{x!r:{y}}'",
     "%4 = format_value[6] %1, %2 @0\nreturn_value %4",
     "instruction $f.FORMAT_VALUE.1, locals [%1, %2], stack [%1, %2]",
     {"('a', '>5')", "('a', 'q')", "(1.5, '')"}},
    {"binary_subscr",
     "def f(x, y): return x[y]",
     "%4 = binary_subscr %1, %2 @0\nreturn_value %4",
     "instruction $f.BINARY_SUBSCR, locals [%1, %2], stack [%1, %2]",
     {"([1, 2], 1)", "([1], 1)", "({}, 'k')", "(5, 5)"}},
    {"to_bool",
     "class Odd:\n    def __bool__(self): return 5\n"
     "def f(x, y): return not x",
     "%4 = unary_not %1 @0\nreturn_value %4",
     "instruction $f.UNARY_NOT, locals [%1, %2], stack [%1]",
     {"(True, 0)", "(None, 0)", "([], 0)", "(Odd(), 0)"}},
};

std::string text_of(const Rare& rare) {
  const std::string snapshot = rare.snapshot;
  std::string text =
      "graph 'f'\nframe 0: <#0 code f>, function %0\n%0 = function\n%1 = param[0]\n%2 = param[1]\n%3 = null\n";
  text += fmt::format("{}\nsnapshot 0: frame 0, {}\n", rare.nodes, snapshot);
  // Snapshot 1 is for the other operations of the row, which have no side exits: the start of f.
  const std::size_t locals = snapshot.find("locals");
  return text + fmt::format("snapshot 1: frame 0, instruction $f.RESUME, {}, stack []\n",
                            snapshot.substr(locals, snapshot.find("],") + 1 - locals));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(executor_rare)

BOOST_DATA_TEST_CASE(as_the_interpreter_does_it, boost::unit_test::data::make(kRare), rare) {
  GraphRun run(std::string(rare.source) + "\nobjects = [f.__code__]", text_of(rare));
  for (const char* arguments : rare.arguments) {
    BOOST_TEST_CONTEXT(arguments) {
      const std::string first = run.call(arguments);
      BOOST_TEST(first == run.eager(arguments));
      BOOST_TEST(run.call(arguments) == first);  // now with what the step has cached
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::replay
