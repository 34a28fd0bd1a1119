// Holds each row of the opcode table against the running interpreter's own `opcode` and `dis`.
#include "rewriter/versions/opcodes.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "tests/rewriter/support.h"

namespace tagalong::rewriter {
namespace {

using testing::evaluate;
using testing::integer;

// Opcodes that the compiler emits; the others are the interpreter's own, or are made when a tool watches.
const char* const kOfCompiler =
    "import opcode, dis\n"
    "mine = {n for n, v in opcode.opmap.items() if v < 256 and not n.startswith('INSTRUMENTED_')}\n"
    "mine -= {'RESERVED', 'INTERPRETER_EXIT', 'ENTER_EXECUTOR'}\n"
    "known = {opcode.opmap[n] for n in mine}\n"
    "has_argument = (lambda n: n in dis.hasarg) if hasattr(dis, 'hasarg') else (lambda n: n >= opcode.HAVE_ARGUMENT)\n"
    "caches = opcode._inline_cache_entries\n"
    "cache = (lambda n: caches[n]) if isinstance(caches, list) else (lambda n: caches.get(opcode.opname[n], 0))";

std::set<int> numbers(const std::string& expression) {
  const Ref list = evaluate("sorted(known & set(" + expression + "))", kOfCompiler);
  std::set<int> result;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
    result.insert(static_cast<int>(PyLong_AsLong(PyList_GET_ITEM(list.get(), i))));
  }
  return result;
}

std::set<int> rows_with(std::initializer_list<Argument> kinds) {
  std::set<int> result;
  for (int opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& row = kOpcodes[static_cast<std::size_t>(opcode)];
    if (row.known() && std::ranges::find(kinds, row.argument) != kinds.end()) {
      result.insert(opcode);
    }
  }
  return result;
}

// dis.stack_effect(opcode, argument, jump=jump) for some arguments, or nothing if it refuses them.
std::map<long, long> effects(int opcode, bool with_argument, bool jump) {
  const std::string setup = fmt::format(
      "import dis\nresult = {{}}\nfor n in (0, 1, 2, 3, 4, 5, 7, 8, 12, 255, 256, 1000):\n"
      "  try: result[n] = dis.stack_effect({}, {}, jump={})\n  except ValueError: pass",
      opcode, with_argument ? "n" : "None", jump ? "True" : "False");
  const Ref dict = evaluate("result", setup);
  std::map<long, long> result;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict.get(), &position, &key, &value) != 0) {
    result[PyLong_AsLong(key)] = PyLong_AsLong(value);
  }
  return result;
}

// Effects of the evaluation loop that dis assigns to another instruction; the sum over PRECALL and CALL is equal.
long booked_elsewhere(int opcode, long argument) {
  const bool has_precall = info(op::kPRECALL).known();
  if (opcode == op::kPRECALL) {
    return -argument;
  }
  if (has_precall && opcode == op::kCALL) {
    return argument;
  }
  return has_precall && opcode == op::kRETURN_GENERATOR ? -1 : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(opcodes)

BOOST_AUTO_TEST_CASE(names_and_numbers) {
  int known = 0;
  for (int opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& row = kOpcodes[static_cast<std::size_t>(opcode)];
    const Ref name = evaluate(fmt::format("opcode.opname[{0}] if {0} in known else '<>'", opcode), kOfCompiler);
    const std::string expected = PyUnicode_AsUTF8(name.get());
    BOOST_TEST(row.known() == !expected.starts_with('<'), expected);
    if (row.known()) {
      ++known;
      BOOST_TEST(row.name == expected);
      BOOST_TEST(row.base == opcode);
      BOOST_TEST((opcode_by_name(row.name) == static_cast<Opcode>(opcode)));
    }
  }
  BOOST_TEST(known == integer("len(mine)", kOfCompiler));
  BOOST_TEST(!opcode_by_name("NOPE").has_value());
  BOOST_TEST(!opcode_by_name("").has_value());
}

BOOST_AUTO_TEST_CASE(caches) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& row = kOpcodes[static_cast<std::size_t>(opcode)];
    BOOST_TEST(row.caches == (row.known() ? integer(fmt::format("cache({})", opcode), kOfCompiler) : 0), row.name);
  }
}

BOOST_AUTO_TEST_CASE(argument_kinds) {
  using enum Argument;
  BOOST_TEST(rows_with({kForward, kBackward}) == numbers("opcode.hasjrel"));
  BOOST_TEST(numbers("opcode.hasjabs").empty());
  BOOST_TEST(rows_with({kName, kNameAndNull, kNameAndFlags}) == numbers("opcode.hasname"));
  BOOST_TEST(rows_with({kLocal, kTwoLocals}) == numbers("opcode.haslocal"));
  BOOST_TEST(rows_with({kCell}) == numbers("opcode.hasfree"));
  BOOST_TEST(rows_with({kComparison}) == numbers("opcode.hascompare"));
  BOOST_TEST(rows_with({kConstant}) == numbers("opcode.hasconst"));
  for (const int opcode : rows_with({kNone})) {
    BOOST_TEST(integer(fmt::format("has_argument({})", opcode), kOfCompiler) == 0);
  }
  for (const int opcode : rows_with({kInteger, kConstant, kName, kNameAndNull, kNameAndFlags, kLocal, kTwoLocals, kCell,
                                     kComparison, kBinaryOperator, kForward, kBackward})) {
    BOOST_TEST(integer(fmt::format("has_argument({})", opcode), kOfCompiler) == 1);
  }
}

BOOST_AUTO_TEST_CASE(directions) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& row = kOpcodes[static_cast<std::size_t>(opcode)];
    if (row.jumps()) {
      BOOST_TEST(row.backward() == (row.name.find("BACKWARD") != std::string_view::npos), row.name);
      const bool conditional =
          row.name.find("IF") != std::string_view::npos || opcode == op::kFOR_ITER || opcode == op::kSEND;
      BOOST_TEST((row.flow == Flow::kBranch) == conditional, row.name);
    } else {
      BOOST_TEST(!row.backward());
      BOOST_TEST(row.reversed == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(stack_effects) {
  int compared = 0;
  for (int number = 0; number < 256; ++number) {
    const auto opcode = static_cast<std::uint8_t>(number);
    if (!info(opcode).known()) {
      continue;
    }
    const bool with_argument = integer(fmt::format("has_argument({})", number), kOfCompiler) == 1;
    for (const Edge edge : {Edge::kNext, Edge::kJump}) {
      if (edge == Edge::kJump && !info(opcode).jumps()) {
        continue;
      }
      for (const auto& [argument, effect] : effects(number, with_argument, edge == Edge::kJump)) {
        const auto n = static_cast<std::uint32_t>(with_argument ? argument : 0);
        BOOST_TEST(pushes(opcode, n, edge) - pops(opcode, n) + booked_elsewhere(number, n) == effect,
                   info(opcode).name << " " << n);
        BOOST_TEST(pops(opcode, n) >= 0);
        BOOST_TEST(pushes(opcode, n, edge) >= 0);
        ++compared;
      }
    }
  }
  BOOST_TEST(compared > 1000);
}

BOOST_AUTO_TEST_CASE(specialised) {
  const std::string setup =
      "import opcode, dis\n"
      "bases = {dis._all_opmap[s]: opcode.opmap[base] for base, all in opcode._specializations.items() for s in all}";
  int specialised = 0;
  for (int opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& row = kOpcodes[static_cast<std::size_t>(opcode)];
    if (!row.known()) {
      BOOST_TEST(row.base == integer(fmt::format("bases.get({}, 0)", opcode), setup), opcode);
      specialised += row.base != 0 ? 1 : 0;
    }
  }
  BOOST_TEST(specialised == integer("len(bases)", setup));
}

BOOST_AUTO_TEST_CASE(operators) {
  for (std::uint32_t i = 0; i < 30; ++i) {
    const Ref symbol = evaluate(fmt::format("([s for _, s in opcode._nb_ops] + [''] * 30)[{}]", i), "import opcode");
    BOOST_TEST(binary_operator_symbol(i) == PyUnicode_AsUTF8(symbol.get()));
    const Ref comparison = evaluate(fmt::format("([*opcode.cmp_op] + [''] * 30)[{}]", i), "import opcode");
    BOOST_TEST(comparison_symbol(i << shift_of(Argument::kComparison)) == PyUnicode_AsUTF8(comparison.get()));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::rewriter
