"""The differential suite: each program eagerly and traced; see `differential/program.py` for the form of programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import tagalong
import tagalong.testing

sys.path.insert(0, str(Path(__file__).parent))

from differential.program import Program, load
from differential.runner import differences, run

PROGRAMS = load()


def test_there_are_enough_programs() -> None:
    assert len(PROGRAMS) >= 240


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program) -> None:
    eager = run(program)
    again = run(program)
    assert [seen.compared() for seen in eager] == [seen.compared() for seen in again], (
        "not the same twice, eagerly"
    )
    found = differences(eager, run(program, partial(tagalong.trace, retire=True), tagalong.testing.events))
    assert not found, "\n".join([f"{program.path.name}:{program.line}: {program.name}", *found])


def reachable_depth(function: Callable[[int], int]) -> int:
    """How deeply the function can call itself before RecursionError."""
    low, high = 1, 10_000
    while low < high:
        middle = (low + high + 1) // 2
        try:
            function(middle)
            low = middle
        except RecursionError:
            high = middle - 1
    return low


def test_recursion_is_as_deep_as_in_plain_python() -> None:
    def down(n: int) -> int:
        return 0 if n <= 0 else down(n - 1) + 1

    plain = reachable_depth(down)
    tagalong.trace(down)
    with tagalong.testing.events() as events:
        assert down(3) == 3
        traced = reachable_depth(down)
    assert events[0] == "record"
    assert plain > 500
    assert traced >= plain  # inlined callees have no frames of their own, so the recursion may be deeper


def test_traced_and_untraced_again() -> None:
    def f(x: int) -> int:
        return x + 1

    code = f.__code__
    tagalong.trace(f)
    with tagalong.testing.assert_events("record", "hit"):
        assert (f(1), f(2)) == (2, 3)
    tagalong.untrace(f)
    assert f.__code__ is code
    with tagalong.testing.assert_events():
        assert f(3) == 4
    tagalong.trace(f)
    with tagalong.testing.assert_events("record", "hit"):
        assert (f(1), f(2)) == (2, 3)
