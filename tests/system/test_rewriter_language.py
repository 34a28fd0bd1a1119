"""CPython's own tests of the language pass with every code object of the test module instrumented with empty hooks."""

from pathlib import Path
from typing import Any

import pytest

from subprocesses import summary

RUNNER = Path(__file__).with_name("rewriter_language_runner.py")

MODULES = """
    asyncgen augassign binop bool call class compare compile contextlib contextlib_async coroutines dataclasses
    decorators descr dictcomps dynamic except_star exception_group exception_hierarchy exceptions extcall frame fstring
    funcattrs functools generator_stop generators genexps global grammar iter keywordonlyarg listcomps metaclass
    named_expressions opcodes patma peepholer positional_only_arg raise scope setcomps super sys_setprofile sys_settrace
    syntax traceback type_annotations typing unpack unpack_ex with yield_from
""".split()

# Tests of the exact bytecode, constants or tables of their own functions; every other test must pass.
OWN_BYTES = {
    "test_compile.TestSourcePositions.test_weird_attribute_position_regressions": "every code unit must have a line",
    "test_compile.TestSpecifics.test_32_63_bit_values": "every constant must be an int",
    "test_compile.TestSpecifics.test_consts_in_conditionals": "counts instructions",
    "test_compile.TestSpecifics.test_dead_blocks_do_not_generate_bytecode": "counts instructions",
    "test_compile.TestSpecifics.test_false_while_loop": "counts instructions",
    "test_compile.TestSpecifics.test_merge_code_attrs": "two functions must share one line table object",
    "test_compile.TestSpecifics.test_merge_constants": "two functions must share one tuple of constants",
    "test_compile.TestSpecifics.test_no_wraparound_jump": "there must be no EXTENDED_ARG",
    "test_compile.TestSpecifics.test_strip_unused_consts": "there must be no other constants",
    "test_peepholer.TestTranforms.test_while_one": "looks for certain opcodes",
}


def run(module: str, mode: str, *tests: str) -> dict[str, Any]:
    """The summary of one run in a process of its own."""
    return summary(RUNNER, f"test.test_{module}", mode, *tests, timeout=240)


@pytest.mark.parametrize("module", MODULES)
def test_language_tests_pass_with_hooks(module: str) -> None:
    summary = run(module, "instrumented")
    print(
        f"test_{module}: {summary['ran']} tests, {summary['codes']} code objects, {summary['calls']} hooks reached"
    )
    assert summary["ran"] > 0
    assert summary["codes"] > 0
    assert summary["calls"] > 10 * summary["ran"]
    failed = {name.split(" ")[0].removeprefix("test."): text for name, text in summary["failed"].items()}
    expected = {name for name in OWN_BYTES if name.startswith(f"test_{module}.")}
    unexpected = {name: text for name, text in failed.items() if name not in expected}
    if unexpected:
        # A test that fails here without hooks, too, says nothing about them.
        plain = run(module, "plain", *(f"test.{name}" for name in unexpected))
        assert plain["ran"] > 0
        also = {name.removeprefix("test.") for name in plain["failed"]}
        unexpected = {name: text for name, text in unexpected.items() if name not in also}
    assert not unexpected, "\n".join(f"{name}\n{text}" for name, text in unexpected.items())
    assert expected <= set(failed), "listed as being about their own bytes, but they pass"
