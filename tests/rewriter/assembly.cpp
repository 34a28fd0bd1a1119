// Decoding and encoding: round trips, jumps that grow, tables, stack depths.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "rewriter/base/errors.h"
#include "rewriter/code.h"
#include "rewriter/tables.h"
#include "tests/rewriter/support.h"

namespace tagalong::rewriter {
namespace {

using testing::call;
using testing::find;
using testing::function_code;

const char* const kPrograms[] = {
    "def f():\n  pass",
    "def f(a, b=1, *c, d=2, **e):\n  return a + b, c, d, e",
    "def f(x):\n  for i in range(x):\n    if i % 2:\n      continue\n    while i:\n      i -= 1\n  return [i for i in "
    "x]",
    "def f(x):\n  try:\n    x()\n  except ValueError as e:\n    return e\n  finally:\n    x += 1\n  with x as y, y:\n  "
    "  pass",
    "def f(x):\n  y = yield from x\n  z = yield y\n  return z",
    "async def f(x):\n  async with x as y:\n    async for z in y:\n      await z\n  return [z async for z in x]",
    "def f(x):\n  def g():\n    nonlocal x\n    x += 1\n    return x\n  return g",
    "def f(x):\n  match x:\n    case {'a': [1, *r], **k}: return r, k\n    case str(s) | [s]: return s\n    case _: "
    "pass",
    "def f(x):\n  try:\n    x()\n  except* OSError as e:\n    print(e)\n  return f'{x!r:>{x}}', {**x}, x[1:2:3]",
    "def f(x):\n  import os.path as p\n  from os import (path,\n    sep)\n  assert x, (\n     'é', p)\n  del x\n  "
    "return lambda: sep",
    "def f():\n  while True: pass",
};

std::string refused(const Assembly& assembly) {
  try {
    encode(assembly);
  } catch (const RewriteError& error) {
    return error.what();
  }
  return "accepted";
}

// A function that returns its argument if it is true; its jump goes over `count` NOPs.
Assembly with_distance(int count) {
  Assembly assembly = decode(function_code("def f(x):\n  if x:\n    return x\n  return 0").get());
  const int branch = find(assembly, testing::jump_if_false());
  for (Instruction& instruction : assembly.instructions) {
    instruction.target += instruction.target > branch ? count : 0;
  }
  assembly.instructions.insert(assembly.instructions.begin() + branch + 1, static_cast<std::size_t>(count),
                               Instruction{.opcode = op::kNOP});
  return assembly;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(assembly)

BOOST_AUTO_TEST_CASE(round_trips) {
  for (const char* program : kPrograms) {
    const CodeRef code = function_code(program);
    BOOST_TEST_CONTEXT(program) {
      const Encoded encoded = encode(decode(code.get()));
      BOOST_TEST(testing::same_tables(code, encoded.code));
      BOOST_TEST(encoded.offsets.size() == decode(code.get()).instructions.size());
      BOOST_TEST(decode(code.get()).instructions == decode(encoded.code.get()).instructions);
      BOOST_TEST(decode(code.get()).ranges == decode(encoded.code.get()).ranges);
    }
  }
}

BOOST_AUTO_TEST_CASE(offsets_are_those_of_the_instructions) {
  const Assembly assembly = with_distance(300);
  const Encoded encoded = encode(assembly);
  const std::string bytes = testing::code_bytes(encoded.code);
  for (std::size_t i = 0; i < encoded.offsets.size(); ++i) {
    const auto opcode = static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(2 * encoded.offsets[i])]);
    BOOST_TEST(opcode == assembly.instructions[i].opcode);
  }
}

BOOST_AUTO_TEST_CASE(jumps_grow_with_the_distance) {
  const Ref yes = testing::evaluate("7");
  const Ref no = testing::evaluate("''");
  for (const int count : {0, 1, 252, 253, 254, 255, 256, 300, 65530, 65533, 65534, 65536}) {
    const Assembly assembly = with_distance(count);
    const Encoded encoded = encode(assembly);
    BOOST_TEST(call(encoded.code, {yes}) == "7");
    BOOST_TEST(call(encoded.code, {no}) == "0");
    BOOST_TEST(decode(encoded.code.get()).instructions.size() == assembly.instructions.size());
    BOOST_TEST(testing::same_tables(encode(decode(encoded.code.get())).code, encoded.code));
  }
  // The jump goes over more than 300 NOPs and one return, or over 200.
  const auto prefixes = [](int count) {
    const std::string bytes = testing::code_bytes(encode(with_distance(count)).code);
    int found = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
      found += static_cast<std::uint8_t>(bytes[i]) == op::kEXTENDED_ARG ? 1 : 0;
    }
    return found;
  };
  BOOST_TEST(prefixes(200) == 0);
  BOOST_TEST(prefixes(300) == 1);
  BOOST_TEST(prefixes(70000) == 2);
}

BOOST_AUTO_TEST_CASE(jumps_that_depend_on_each_other) {
  // 40 jumps over each other, each just too short for a prefix: each jump that grows makes others grow.
  Assembly assembly = decode(function_code("def f(x):\n  return x").get());
  const Instruction last_two[] = {assembly.instructions[1], assembly.instructions[2]};
  assembly.instructions.resize(1);
  for (int i = 0; i < 40; ++i) {
    assembly.instructions.push_back({.opcode = op::kJUMP_FORWARD, .target = 1 + i + 250});
  }
  for (int i = 0; i < 300; ++i) {
    assembly.instructions.push_back({.opcode = op::kNOP});
  }
  assembly.instructions.insert(assembly.instructions.end(), std::begin(last_two), std::end(last_two));
  const Encoded encoded = encode(assembly);
  BOOST_TEST(call(encoded.code, {testing::evaluate("1")}) == "1");
  BOOST_TEST(decode(encoded.code.get()).instructions == assembly.instructions);
}

BOOST_AUTO_TEST_CASE(a_jump_takes_the_direction_of_its_target) {
  if (info(op::kPOP_JUMP_FORWARD_IF_FALSE).reversed == 0) {
    return;  // conditional jumps go forward only
  }
  // Reaches `return 1` from in front of the branch that leads to it.
  Assembly assembly = decode(function_code("def f(x):\n  if x:\n    return 1\n  return 2").get());
  const int branch = find(assembly, op::kPOP_JUMP_FORWARD_IF_FALSE);
  BOOST_TEST(branch == 2);
  // 0 RESUME, 1 JUMP_FORWARD to 4, 2 LOAD_CONST, 3 RETURN_VALUE, 4 LOAD_FAST, 5 POP_JUMP.. to 2, ...
  const Instruction load = assembly.instructions[5];
  const Instruction leave = assembly.instructions[6];
  std::vector<Instruction> code = {assembly.instructions[0], {.opcode = op::kJUMP_BACKWARD, .target = 4}, load, leave};
  code.push_back(assembly.instructions[1]);
  code.push_back({.opcode = op::kPOP_JUMP_FORWARD_IF_FALSE, .target = 2});
  code.push_back(assembly.instructions[3]);
  code.push_back(assembly.instructions[4]);
  assembly.instructions = code;
  const Encoded encoded = encode(assembly);
  const Assembly again = decode(encoded.code.get());
  BOOST_TEST(again.instructions[1].opcode == op::kJUMP_FORWARD);
  BOOST_TEST(again.instructions[5].opcode == op::kPOP_JUMP_BACKWARD_IF_FALSE);
  BOOST_TEST(call(encoded.code, {testing::evaluate("1")}) == "1");
  BOOST_TEST(call(encoded.code, {testing::evaluate("0")}) == "2");
  assembly.instructions[5] = {.opcode = op::kJUMP_IF_FALSE_OR_POP, .target = 2};
  BOOST_TEST(refused(assembly) == "JUMP_IF_FALSE_OR_POP at 5 cannot go backward to 2");
}

BOOST_AUTO_TEST_CASE(redundant_prefixes_stay) {
  const CodeRef code = testing::function_code(
      "def f(): return 1\n"
      "c = f.__code__.co_code\n"
      "import opcode\n"
      "prefix = bytes((opcode.opmap['EXTENDED_ARG'], 0))\n"
      "f.__code__ = f.__code__.replace(co_code=c[:2] + 2 * prefix + c[2:], co_linetable=b'\\x80\\x00')");
  const Assembly assembly = decode(code.get());
  BOOST_TEST(static_cast<int>(assembly.instructions[1].prefixes) == 2);
  BOOST_TEST(testing::same_tables(encode(assembly).code, code));
}

BOOST_AUTO_TEST_CASE(an_odd_line_table_stays_while_it_is_right) {
  // One entry for all instructions, which the compiler would not write.
  const CodeRef code = testing::function_code(
      "def f(x): return x\n"
      "f.__code__ = f.__code__.replace(co_linetable=bytes((0x80 | 13 << 3 | 2, 0)))");
  Assembly assembly = decode(code.get());
  BOOST_TEST(testing::same_tables(encode(assembly).code, code));
  assembly.instructions[1].position.line += 5;
  assembly.instructions[1].position.end_line += 5;
  const Encoded changed = encode(assembly);
  BOOST_TEST(decode(changed.code.get()).instructions[1].position.line == code->co_firstlineno + 5);
  BOOST_TEST(decode(changed.code.get()).instructions[2].position.line == code->co_firstlineno);
}

BOOST_AUTO_TEST_CASE(positions_of_every_form) {
  const Position positions[] = {
      {5, 5, 0, 0},   {5, 5, 79, 94}, {5, 5, 80, 95}, {5, 5, 3, 19}, {6, 6, 127, 127},           {8, 8, 128, 3},
      {12, 15, 4, 2}, {2, 2, -1, -1}, {2, 9, -1, -1}, kNoPosition,   {100000, 100001, 70000, 5}, {0, 0, -1, -1},
      {3, 3, 4, -1},  {3, 3, -1, 4},  {3, 4, -1, 4}};
  for (const int units : {1, 8, 9, 11, 30}) {
    LineTableWriter writer(5, 10);
    for (const Position& position : positions) {
      writer.add(position, units);
    }
    LineTableReader reader(writer.bytes(), 5);
    int unit = 0;
    for (Position expected : positions) {
      if (expected.line == expected.end_line && (expected.column < 0 || expected.end_column < 0)) {
        expected.column = expected.end_column = -1;  // the compiler's formats cannot express half a position
      }
      for (int i = 0; i < units; ++i) {
        BOOST_TEST((reader.at(unit++) == expected), "unit " << unit << " line " << expected.line);
      }
    }
    BOOST_TEST((reader.at(unit) == kNoPosition));
  }
  LineTableWriter writer(1, 1);
  BOOST_CHECK_THROW(writer.add({5, 4, 0, 3}, 1), RewriteError);
}

BOOST_AUTO_TEST_CASE(exception_tables) {
  std::vector<std::uint8_t> table;
  const UnitRange ranges[] = {{0, 1, 0, 0, false},
                              {63, 64, 65, 31, true},
                              {64, 5000, 300000, 100, false},
                              {1 << 20, 1 << 25, (1 << 30) - 1, (1 << 28), true}};
  for (const UnitRange& range : ranges) {
    write_exception_entry(table, range);
  }
  const std::vector<UnitRange> again = read_exception_table(table);
  BOOST_REQUIRE(again.size() == std::size(ranges));
  for (std::size_t i = 0; i < again.size(); ++i) {
    BOOST_TEST(again[i].start == ranges[i].start);
    BOOST_TEST(again[i].end == ranges[i].end);
    BOOST_TEST(again[i].target == ranges[i].target);
    BOOST_TEST(again[i].depth == ranges[i].depth);
    BOOST_TEST(again[i].lasti == ranges[i].lasti);
  }
  for (std::size_t size = 1; size < table.size(); ++size) {
    const bool whole = size == 4 || size == 10;
    if (!whole && (static_cast<unsigned>(table[size]) & 0x80U) == 0) {
      BOOST_CHECK_THROW(read_exception_table(Bytes(table).first(size)), RewriteError);
    }
  }
}

BOOST_AUTO_TEST_CASE(depths_of_a_handler) {
  const Assembly assembly =
      decode(function_code("def f(x):\n  for i in x:\n    try:\n      x()\n    except ValueError:\n      pass").get());
  const std::vector<int> depths = stack_depths(assembly);
  const int push = find(assembly, op::kPUSH_EXC_INFO);
  BOOST_TEST(depths[static_cast<std::size_t>(find(assembly, op::kFOR_ITER))] == 1);
  BOOST_TEST(depths[static_cast<std::size_t>(push)] == 2);  // the iterator, the exception
  BOOST_TEST(depths[static_cast<std::size_t>(push) + 1] == 3);
  BOOST_TEST(depths[static_cast<std::size_t>(find(assembly, op::kCOPY))] == 4);  // with the instruction and both
  BOOST_TEST(largest_depth(assembly, depths) <= assembly.stack_size);
}

BOOST_AUTO_TEST_CASE(depths_of_generators) {
  const Assembly assembly = decode(function_code("def f(x):\n  return (yield from x)").get());
  const std::vector<int> depths = stack_depths(assembly);
  BOOST_TEST(depths[0] == 0);
  BOOST_TEST(depths[static_cast<std::size_t>(find(assembly, op::kPOP_TOP))] == 1);
  BOOST_TEST(depths[static_cast<std::size_t>(find(assembly, op::kRESUME))] == 0);
  BOOST_TEST(depths[static_cast<std::size_t>(find(assembly, op::kSEND))] == 2);
  BOOST_TEST(depths[static_cast<std::size_t>(find(assembly, op::kYIELD_VALUE))] == 2);
}

BOOST_AUTO_TEST_CASE(depths_of_code_that_is_never_reached) {
  Assembly assembly = decode(function_code("def f():\n  return 1").get());
  assembly.instructions.push_back({.opcode = op::kPOP_TOP});
  BOOST_TEST(stack_depths(assembly).back() == -1);
  BOOST_TEST(call(encode(assembly).code) == "1");
}

BOOST_AUTO_TEST_CASE(contradictions_are_refused) {
  const Assembly assembly = decode(function_code("def f(x):\n  while x:\n    x -= 1\n  return x").get());
  Assembly changed = assembly;
  changed.instructions.back() = {.opcode = op::kNOP};
  BOOST_TEST(refused(changed) == "control runs off the end of the code behind NOP");
  changed = assembly;
  changed.instructions[1] = {.opcode = op::kPOP_TOP};
  BOOST_TEST(refused(changed) == "POP_TOP at 1 needs 1 values on the stack, there are 0");
  changed = assembly;
  changed.instructions[static_cast<std::size_t>(find(assembly, op::kSTORE_FAST))].opcode = op::kLOAD_FAST;
  BOOST_TEST(refused(changed).find("is reached with") != std::string::npos);
  changed = assembly;
  changed.instructions[1].arg = 9;
  BOOST_TEST(refused(changed) == "argument 9 of LOAD_FAST at 1 is out of range");
  changed = assembly;
  changed.instructions[0].opcode = op::kEXTENDED_ARG;
  BOOST_TEST(refused(changed) == fmt::format("instruction 0 has opcode {}, which cannot be used", op::kEXTENDED_ARG));
  changed.instructions[0].opcode = op::kFirstAbsent;
  BOOST_TEST(refused(changed) == fmt::format("instruction 0 has opcode {}, which cannot be used", op::kFirstAbsent));
  changed = assembly;
  changed.instructions[static_cast<std::size_t>(find(assembly, testing::jump_if_false()))].target = changed.size();
  BOOST_TEST(refused(changed).find("outside of the code") != std::string::npos);
  changed = assembly;
  changed.ranges = {{2, 3, 4, 7, false}};
  BOOST_TEST(refused(changed).find("its exception handler expects 7") != std::string::npos);
  changed.ranges = {{2, 3, 4, 0, false}, {1, 2, 4, 0, false}};
  BOOST_TEST(refused(changed) != "accepted");
  BOOST_TEST(refused(assembly) == "accepted");
}

BOOST_AUTO_TEST_CASE(send_must_stay_short) {
  Assembly assembly = decode(function_code("def f(x):\n  yield from x").get());
  const int send = find(assembly, op::kSEND);
  const int jump = find(assembly, op::kJUMP_BACKWARD_NO_INTERRUPT);
  for (Instruction& instruction : assembly.instructions) {
    instruction.target += instruction.target > jump ? 300 : 0;
  }
  for (ExceptionRange& range : assembly.ranges) {
    range.end += range.end > jump ? 300 : 0;
    range.target += range.target > jump ? 300 : 0;
  }
  assembly.instructions.insert(assembly.instructions.begin() + jump, 300, Instruction{.opcode = op::kNOP});
  BOOST_TEST(send > 0);
  BOOST_TEST(refused(assembly).find("goes too far") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(constants_by_identity) {
  Assembly assembly = decode(function_code("def f():\n  return 1.5").get());
  const auto size = static_cast<int>(assembly.constants.size());
  const Ref other = testing::evaluate("float('1.5')");
  BOOST_TEST(add_constant(assembly, assembly.constants[1]) == 1);
  BOOST_TEST(add_constant(assembly, other) == size);
  BOOST_TEST(add_constant(assembly, other) == size);
  assembly.instructions[1].arg = static_cast<std::uint32_t>(size);
  const Py_ssize_t before = Py_REFCNT(other.get());
  {
    const CodeRef code = encode(assembly).code;
    BOOST_TEST(Py_REFCNT(other.get()) == before + 1);
    BOOST_TEST(call(code) == "1.5");
  }
  BOOST_TEST(Py_REFCNT(other.get()) == before);
}

BOOST_AUTO_TEST_CASE(stack_size_grows_and_never_shrinks) {
  Assembly assembly = decode(function_code("def f(x):\n  return x").get());
  const CodeRef unchanged = encode(assembly).code;
  BOOST_TEST(unchanged->co_stacksize == assembly.origin->co_stacksize);
  BOOST_TEST(encode(assembly, {.extra_stack = 4}).code->co_stacksize == assembly.stack_size + 4);
  assembly.stack_size = 50;
  BOOST_TEST(encode(assembly).code->co_stacksize == 50);
  assembly.stack_size = 1;
  const Instruction load = assembly.instructions[1];
  assembly.instructions.insert(assembly.instructions.begin() + 2, 5, load);
  BOOST_TEST(encode(assembly).code->co_stacksize == 6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::rewriter
