// Inserting: labels, exception ranges, entry stubs, hooks.
#include "rewriter/edit.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "rewriter/base/errors.h"
#include "rewriter/hook_key.h"
#include "rewriter/instrument.h"
#include "rewriter/snippet.h"
#include "rewriter/stub.h"
#include "tests/rewriter/support.h"
#include "version/snippets.h"

namespace tagalong::rewriter {
namespace {

using testing::call;
using testing::evaluate;
using testing::find;
using testing::function_code;

const char* const kLoop = "def f(n):\n  total = 0\n  while n:\n    total += n\n    n -= 1\n  return total";

// x += 100 for the local `slot`.
std::vector<Instruction> add_hundred(Assembly& assembly, std::uint32_t slot) {
  const auto hundred = static_cast<std::uint32_t>(add_constant(assembly, evaluate("100")));
  return {{.opcode = op::kLOAD_FAST, .arg = slot},
          {.opcode = op::kLOAD_CONST, .arg = hundred},
          {.opcode = op::kBINARY_OP, .arg = 0},
          {.opcode = op::kSTORE_FAST, .arg = slot}};
}

std::string run(const Assembly& assembly, const std::string& argument) {
  return call(encode(assembly).code, {evaluate(argument)});
}

template <class Function>
std::string refused(Function function) {
  try {
    function();
  } catch (const RewriteError& error) {
    return error.what();
  }
  return "accepted";
}

// The value that a stub sees: an iterator whose next value is the result, like the runtime's anchors.
Ref anchor(const std::string& values) { return evaluate("iter(" + values + ")"); }

// Returns the next item, or goes on with the original.
std::vector<Instruction> returning_stub(Assembly& assembly, const Ref& iterator) {
  const auto constant = static_cast<std::uint32_t>(add_constant(assembly, iterator));
  return Snippet().ask(constant, Snippet().put(op::kSWAP, 2).pop().return_value()).code();
}

HookPlan everywhere(const Ref& callable) {
  return {callable, [](int) { return true; }, [](int) { return true; }};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(edit)

BOOST_AUTO_TEST_CASE(nothing_inserted_changes_nothing) {
  const Assembly assembly = decode(function_code(kLoop).get());
  const Edited edited = insert(assembly, {});
  BOOST_TEST(edited.assembly.instructions == assembly.instructions);
  BOOST_TEST(testing::same_tables(encode(edited.assembly).code, assembly.origin));
}

BOOST_AUTO_TEST_CASE(jumps_see_inserted_code_or_do_not) {
  Assembly assembly = decode(function_code(kLoop).get());
  // The loop's body begins at the target of the jump back.
  const int body = assembly
                       .instructions[static_cast<std::size_t>(
                           find(assembly, testing::known_of({op::kPOP_JUMP_BACKWARD_IF_TRUE, op::kJUMP_BACKWARD})))]
                       .target;
  const auto code = add_hundred(assembly, 1);
  const Edited seen = insert(assembly, {{.before = body, .code = code, .jumps_see_it = true}});
  const Edited unseen = insert(assembly, {{.before = body, .code = code, .jumps_see_it = false}});
  BOOST_TEST(run(assembly, "3") == "6");
  BOOST_TEST(run(seen.assembly, "3") == "306");
  BOOST_TEST(run(unseen.assembly, "3") == "106");
  BOOST_TEST(seen.index[static_cast<std::size_t>(body)] == body + 4);
  BOOST_TEST(seen.index[static_cast<std::size_t>(body) - 1] == body - 1);
}

BOOST_AUTO_TEST_CASE(targets_in_inserted_code) {
  Assembly assembly = decode(function_code(kLoop).get());
  const int last = assembly.size() - 2;
  const auto zero = static_cast<std::uint32_t>(add_constant(assembly, evaluate("0")));
  // if n: total += 100, at the start; size() means the instruction itself, original_label() another one.
  std::vector<Instruction> code = {{.opcode = op::kLOAD_FAST, .arg = 0},
                                   {.opcode = info(op::kTO_BOOL).known() ? op::kTO_BOOL : op::kNOP},
                                   {.opcode = testing::jump_if_true(), .target = 6},
                                   {.opcode = op::kLOAD_CONST, .arg = zero},
                                   {.opcode = op::kSTORE_FAST, .arg = 1},
                                   {.opcode = op::kJUMP_FORWARD, .target = original_label(last)}};
  const Edited edited = insert(assembly, {{.before = 1, .code = code}});
  BOOST_TEST(run(edited.assembly, "3") == "6");
  BOOST_TEST(run(edited.assembly, "0") == "0");
  BOOST_TEST(edited.assembly.instructions[6].target == edited.index[static_cast<std::size_t>(last)]);
  BOOST_TEST(edited.assembly.instructions[3].target == edited.index[1]);
}

BOOST_AUTO_TEST_CASE(many_insertions_in_one_go) {
  Assembly assembly = decode(function_code(kLoop).get());
  std::vector<Insertion> insertions;
  for (int i = 1; i < assembly.size(); ++i) {
    insertions.push_back({.before = i, .code = {{.opcode = op::kNOP}, {.opcode = op::kNOP}}});
    insertions.push_back({.before = i, .code = {{.opcode = op::kNOP}}});
  }
  const Edited edited = insert(assembly, insertions);
  BOOST_TEST(edited.assembly.size() == 4 * assembly.size() - 3);
  BOOST_TEST(run(edited.assembly, "4") == "10");
}

BOOST_AUTO_TEST_CASE(exception_ranges_cover_the_right_instructions) {
  Assembly assembly = decode(
      function_code("def f(x):\n  try:\n    y = 1 // x\n  except ZeroDivisionError:\n    return 'caught'\n  return y")
          .get());
  const int divide = find(assembly, op::kBINARY_OP);
  BOOST_REQUIRE(!assembly.ranges.empty());
  const ExceptionRange first = assembly.ranges[0];
  BOOST_TEST(first.start < divide);
  // 1 // 0 in front of the range's first instruction, behind its last, and within; the result is discarded.
  const auto one = static_cast<std::uint32_t>(add_constant(assembly, evaluate("1")));
  const auto zero = static_cast<std::uint32_t>(add_constant(assembly, evaluate("0")));
  const std::vector<Instruction> fails = {{.opcode = op::kLOAD_CONST, .arg = one},
                                          {.opcode = op::kLOAD_CONST, .arg = zero},
                                          {.opcode = op::kBINARY_OP, .arg = 2},
                                          {.opcode = op::kPOP_TOP}};
  const auto outcome = [&](int before, Follows follows) {
    return run(insert(assembly, {{.before = before, .code = fails, .follows = follows}}).assembly, "1");
  };
  const std::string escaped = "ZeroDivisionError('integer division or modulo by zero')";
  BOOST_TEST(outcome(first.start, Follows::kNext) == "'caught'");
  BOOST_TEST(outcome(first.start, Follows::kPrevious) == escaped);
  BOOST_TEST(outcome(first.start, Follows::kNone) == escaped);
  BOOST_TEST(outcome(divide, Follows::kNext) == "'caught'");
  BOOST_TEST(outcome(divide, Follows::kPrevious) == "'caught'");
  BOOST_TEST(outcome(divide, Follows::kNone) == escaped);
  BOOST_TEST(outcome(first.end, Follows::kNext) == escaped);
  BOOST_TEST(outcome(first.end, Follows::kPrevious) == "'caught'");
  BOOST_TEST(outcome(first.end, Follows::kNone) == escaped);
  // A range with a hole still works.
  const Edited hole = insert(assembly, {{.before = divide, .code = {{.opcode = op::kNOP}}, .follows = Follows::kNone}});
  BOOST_TEST(hole.assembly.ranges.size() == assembly.ranges.size() + 1);
  BOOST_TEST(run(hole.assembly, "0") == "'caught'");
}

BOOST_AUTO_TEST_CASE(bad_insertions_are_refused) {
  const Assembly assembly = decode(function_code(kLoop).get());
  const std::vector<Instruction> nop = {{.opcode = op::kNOP}};
  const auto outcome = [&](const std::vector<Insertion>& insertions) {
    return refused([&] { insert(assembly, insertions); });
  };
  BOOST_TEST(outcome({{.before = assembly.size(), .code = nop}}).find("outside of the code") != std::string::npos);
  BOOST_TEST(outcome({{.before = 3, .code = nop}, {.before = 2, .code = nop}}).find("out of order") !=
             std::string::npos);
  BOOST_TEST(outcome({{.before = 0, .code = nop, .follows = Follows::kPrevious}}).find("no instruction to belong to") !=
             std::string::npos);
  BOOST_TEST(outcome({{.before = 2, .code = nop}, {.before = 2, .code = nop, .follows = Follows::kPrevious}}) !=
             "accepted");
  BOOST_TEST(outcome({{.before = 2, .code = nop}, {.before = 2, .code = nop, .jumps_see_it = false}}) != "accepted");
  BOOST_TEST(outcome({{.before = 2, .code = {{.opcode = op::kJUMP_FORWARD, .target = 2}}}}) != "accepted");
  BOOST_TEST(outcome({{.before = 2, .code = {{.opcode = op::kJUMP_FORWARD, .target = original_label(999)}}}}) !=
             "accepted");
  BOOST_TEST(outcome({{.before = 2, .code = nop, .follows = Follows::kPrevious}, {.before = 2, .code = nop}}) ==
             "accepted");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(stub)

BOOST_AUTO_TEST_CASE(an_entry_stub_returns_or_continues) {
  Assembly assembly = decode(function_code(kLoop).get());
  const Ref once = anchor("['from the stub']");
  const auto stub = returning_stub(assembly, once);
  const WithEntry entry = insert_entry(assembly, stub);
  BOOST_TEST(call(entry.code, {evaluate("4")}) == "'from the stub'");
  BOOST_TEST(call(entry.code, {evaluate("4")}) == "10");
  const Assembly again = decode(entry.code.get());
  const std::size_t length = stub.size();
  BOOST_TEST(again.instructions.size() == assembly.instructions.size() + length);
  BOOST_TEST(entry.stub_offsets.size() == length);
  const std::string bytes = testing::code_bytes(entry.code);
  for (int i = 0; i < assembly.size(); ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const Instruction& moved = again.instructions[slot + (i == 0 ? 0 : length)];
    BOOST_TEST((moved.position == assembly.instructions[slot].position));
    BOOST_TEST(static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(2 * entry.offsets[slot])]) == moved.opcode);
  }
  for (std::size_t i = 1; i <= length; ++i) {
    BOOST_TEST((again.instructions[i].position == kNoPosition));
  }
}

BOOST_AUTO_TEST_CASE(a_loop_at_the_start_does_not_run_the_stub_again) {
  Assembly assembly = decode(function_code("def f(n):\n  while n:\n    n.pop()\n  return n").get());
  const WithEntry entry = insert_entry(assembly, returning_stub(assembly, anchor("[]")));
  BOOST_TEST(call(entry.code, {evaluate("[1, 2, 3]")}) == "[]");
  // A jump back to the instruction behind RESUME keeps its target.
  Assembly back = assembly;
  back.instructions.insert(back.instructions.end(), {.opcode = op::kJUMP_BACKWARD, .target = 1});
  const Assembly after = decode(insert_entry(back, {{.opcode = op::kNOP}}).code.get());
  BOOST_TEST(after.instructions.back().target == 2);
}

BOOST_AUTO_TEST_CASE(no_range_covers_the_stub) {
  Assembly assembly =
      decode(function_code("def f(x):\n  try:\n    return x()\n  except ValueError:\n    return 0").get());
  assembly.ranges[0].start = 0;  // includes RESUME
  const Assembly after = decode(insert_entry(assembly, {{.opcode = op::kNOP}, {.opcode = op::kNOP}}).code.get());
  BOOST_TEST(after.ranges.size() == assembly.ranges.size() + 1);
  for (const ExceptionRange& range : after.ranges) {
    BOOST_TEST((range.end <= 1 || range.start >= 3));
  }
}

BOOST_AUTO_TEST_CASE(a_stub_needs_a_place) {
  Assembly assembly = decode(function_code(kLoop).get());
  assembly.instructions[0].opcode = op::kNOP;
  BOOST_TEST(refused([&] { insert_entry(assembly, {}); }) == "there is no place for an entry stub: no RESUME");
  assembly.instructions = {{.opcode = op::kRESUME}};
  BOOST_TEST(refused([&] { insert_entry(assembly, {}); }) ==
             "there is no place for an entry stub: nothing follows RESUME");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hooks)

BOOST_AUTO_TEST_CASE(every_hook_is_where_it_is_said_to_be) {
  const Assembly assembly = decode(function_code("def f(x):\n  return max(x, key=len) if x else -x").get());
  const Ref seen = evaluate("[]");
  const Ref append = Ref::steal(PyObject_GetAttrString(seen.get(), "append"));
  const Instrumented result = instrument(assembly, everywhere(append));
  BOOST_TEST(call(result.code, {evaluate("['a', 'bcd']")}) == "'bcd'");
  const std::string bytes = testing::code_bytes(result.code);
  const auto opcode_at = [&](int unit) { return static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(2 * unit)]); };
  int count = 0;
  for (std::size_t i = 0; i < assembly.instructions.size(); ++i) {
    BOOST_TEST(opcode_at(result.offsets[i]) == assembly.instructions[i].opcode);
    for (const int hook : {result.before_hook_offsets[i], result.after_hook_offsets[i]}) {
      if (hook >= 0) {
        BOOST_TEST(opcode_at(hook) == (version::kNullBelowCallable ? op::kPUSH_NULL : op::kLOAD_CONST));
        ++count;
      }
    }
    BOOST_TEST(result.before_hook_offsets[i] < result.offsets[i]);
  }
  // All except: in front of RESUME, KW_NAMES and PRECALL, behind KW_NAMES and PRECALL, and behind the two returns.
  // Versions without PRECALL and KW_NAMES have fewer of these places.
  const int parts = info(op::kPRECALL).known() ? 4 : info(op::kKW_NAMES).known() ? 2 : 0;
  BOOST_TEST(count == 2 * assembly.size() - 1 - parts - 2);
  PyObject* callable = PyTuple_GET_ITEM(result.code->co_consts, result.callable_constant_index);
  BOOST_TEST(callable == append.get());
  BOOST_TEST(result.depths == stack_depths(assembly));
  // The first hook is behind RESUME.
  BOOST_TEST(hook_key_of(PyList_GetItem(seen.get(), 0)) == 2 * 0 + 1);
}

BOOST_AUTO_TEST_CASE(programs_run_with_hooks_everywhere) {
  const std::vector<std::pair<std::string, std::string>> programs = {
      {"total = 0\n  for i in range(x):\n    total += i\n  else:\n    total *= 2\n  return total", "90"},
      {"return [i * j for i in range(x) if i % 2 for j in (1, 2)]", "[1, 2, 3, 6, 5, 10, 7, 14, 9, 18]"},
      {"def g():\n    yield from (yield x)\n  made = g()\n  return next(made), made.send([1, 2]), list(made)",
       "(10, 1, [2])"},
      {"try:\n    return x / 0\n  except ZeroDivisionError as error:\n    return str(error)\n  finally:\n    x = 3",
       "'division by zero'"},
      {"import contextlib\n  with contextlib.suppress(KeyError) as y, contextlib.nullcontext(x) as z:\n    {}[z]\n  "
       "return y, x",
       "(None, 10)"},
      {"match [x, {'a': 1}]:\n    case [int(n), {'a': m, **rest}] if n > 5:\n      return n, m, rest", "(10, 1, {})"},
      {"a, *b, c = range(x)\n  return f'{a}{b!r:>4}{c:03d}', max(*b, key=lambda n: -n), b[1:3]",
       "('0[1, 2, 3, 4, 5, 6, 7, 8]009', 1, [2, 3])"},
      {"import asyncio\n  async def g():\n    async for y in h():\n      await asyncio.sleep(0)\n    return y\n"
       "  async def h():\n    for i in range(3):\n      yield i\n  return asyncio.run(g())",
       "2"},
      {"class A:\n    def f(self): return x\n  class B(A):\n    def f(self): return super().f() + 1\n  return B().f()",
       "11"},
      {"try:\n    raise ExceptionGroup('g', [ValueError(1), TypeError(2)])\n  except* ValueError as e:\n    y = e\n"
       "  except* TypeError as e:\n    y = y.exceptions + e.exceptions\n  return y",
       "(ValueError(1), TypeError(2))"},
  };
  const Ref hook = evaluate("(lambda seen: lambda key: seen.append(key))([])");
  for (const auto& [body, expected] : programs) {
    const CodeRef code = function_code("def f(x):\n  " + body);
    const Instrumented result = instrument(decode(code.get()), everywhere(hook));
    BOOST_TEST(call(code, {evaluate("10")}) == expected);
    BOOST_TEST(call(result.code, {evaluate("10")}) == expected, body);
  }
}

BOOST_AUTO_TEST_CASE(the_stack_has_room_for_hooks) {
  for (const char* program : {"def f():\n  pass", "def f(x):\n  return [x, x, (x, x, [x])]",
                              "def f(x):\n  with x as y:\n    return y(1, *x)", "def f(x):\n  yield from x"}) {
    const Assembly assembly = decode(function_code(program).get());
    const Instrumented result = instrument(assembly, everywhere(evaluate("len")));
    const Assembly after = decode(result.code.get());
    BOOST_TEST(largest_depth(after, stack_depths(after)) <= result.code->co_stacksize);
    BOOST_TEST(result.code->co_stacksize >= assembly.stack_size);
    BOOST_TEST(result.code->co_stacksize <= assembly.stack_size + 3);
  }
}

BOOST_AUTO_TEST_CASE(the_empty_plan_changes_nothing) {
  const Assembly assembly = decode(function_code(kLoop).get());
  const Instrumented result = instrument(assembly, {.callable = evaluate("len")});
  BOOST_TEST(testing::code_bytes(result.code) == testing::code_bytes(assembly.origin));
  BOOST_TEST(refused([&] { instrument(assembly, {}); }) == "there is no callable to hook in");
}

BOOST_AUTO_TEST_CASE(code_without_a_resume_gets_no_hooks) {
  Assembly assembly = decode(function_code("def f():\n  return 1").get());
  assembly.instructions[0].opcode = op::kNOP;
  const Instrumented result = instrument(assembly, everywhere(evaluate("len")));
  BOOST_TEST(std::ranges::count(result.before_hook_offsets, -1) == assembly.size());
  BOOST_TEST(std::ranges::count(result.after_hook_offsets, -1) == assembly.size());
}

BOOST_AUTO_TEST_CASE(hook_constants_do_not_leak) {
  const Assembly assembly = decode(function_code(kLoop).get());
  const Ref callable = evaluate("lambda key: None");
  const Py_ssize_t before = Py_REFCNT(callable.get());
  for (int i = 0; i < 100; ++i) {
    instrument(assembly, everywhere(callable));
  }
  BOOST_TEST(Py_REFCNT(callable.get()) == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tagalong::rewriter
