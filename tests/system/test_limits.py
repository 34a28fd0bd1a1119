"""Each limit on what can grow: it is reached, counted by its name, shown by `explain`, and changes no result."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import tagalong
from tagalong import _core
from tagalong.options import LIMITS

sys.path.insert(0, str(Path(__file__).parent))

from subprocesses import run

MIXED = """
def f(n):
    a, b, c = 0, 0.0, []
    for i in range(n):
        if i % 2:
            if i % 3:
                a += i
            else:
                b += i * 0.5
        elif i % 5:
            c.append(i)
        else:
            for k in range(i % 4):
                a -= k
    return a, b, c
"""

COUNTED = """
def f(n):
    total = 0
    for i in range(n):
        total += i
    return total
"""

CALLS = """
def one(x):
    return x + 1
def two(x):
    return one(x) * 2
def f(x):
    return two(x) - 1
"""

FACTORIAL = """
def f(n):
    return 1 if n < 2 else n * f(n - 1)
"""

CHANGING = """
def f(n):
    total, a, b = 0, 1, 0.5
    for i in range(n):
        total += a * a
        a, b = b, a
    return total
"""

KINDS = """
def f(x):
    y = x + x
    z = y + x
    return y + z + y + z
"""

# Functions called through C code are not inlined; if they recurse, runs nest.
NESTED = """
def f(n):
    return 0 if n == 0 else 1 + max(map(f, [n - 1]))
"""

SHUFFLED = """
def f(n):
    g = iter(range(n))
    return [x for x in g if x % 3], next(g, None)
"""

# limit: its value, the program, arguments of its calls
REACHED: dict[str, tuple[dict[str, int], str, list[Any]]] = {
    "nodes": ({"nodes": 5}, CALLS, [1] * 3),
    "unroll": ({"unroll": 3, "loops": 0}, COUNTED, [9] * 3),
    "inline_depth": ({"inline_depth": 1}, CALLS, [1] * 3),
    "recursion": ({"recursion": 2}, FACTORIAL, [9] * 3),
    "openings": ({"openings": 2}, CHANGING, [20] * 3),
    "entries_per_anchor": ({"entries_per_anchor": 2}, KINDS, [1, 0.5, "a", (), []] * 3),
    "executors": ({"executors": 2}, MIXED, [60] * 5),
    "retries": ({"retries": 2, "nodes": 6}, KINDS, [1, 0.5, "a", ()] * 2),
    "heat": ({"heat": 5}, MIXED, [60] * 5),
    "grow_after": ({"grow_after": 3}, MIXED, [60] * 9),
    "native_after": ({"native_after": 5}, MIXED, [60] * 5),
    "parts": ({"grow_after": 2, "parts": 2}, MIXED, [60] * 20),
    "operations": ({"grow_after": 2, "operations": 20}, MIXED, [60] * 20),
    "stack": ({"stack": 1_000_000}, NESTED, [9] * 3),
    "retire_after": ({"retire_after": 3, "loops": 0}, SHUFFLED, [9] * 20),
}
DEFAULTS = {name: default for name, (default, _) in LIMITS.items()}
USUAL = {"loops": 1, "heat": 2, "grow_after": 0, "native_after": 0, "retire_after": 0}


def test_the_table_of_options_has_every_limit_of_the_engine() -> None:
    program = "from tagalong import _core; print(_core.limits())"
    assert run("-c", program).stdout == f"{DEFAULTS}\n"


def test_each_limit_is_reached_below() -> None:
    in_files_of_their_own = {"recordings", "share"}  # test_switching.py, test_recording_budget.py
    assert [*REACHED] == [name for name in LIMITS if name not in in_files_of_their_own]


@pytest.mark.parametrize("name", REACHED)
def test_reaching_a_limit_is_told_and_changes_no_result(name: str) -> None:
    limits, source, arguments = REACHED[name]
    eager: dict[str, Any] = {}
    names: dict[str, Any] = {}
    exec(source, eager)
    exec(source, names)
    function: FunctionType = names["f"]
    before = tagalong.stats().limits.get(name, 0)
    settings = USUAL | limits
    for option, value in settings.items():
        _core.set_option(option, value)
    tagalong.trace(function, retire=True)
    for argument in arguments:
        assert function(argument) == eager["f"](argument)
    times = tagalong.stats(function).limits[name]
    text = tagalong.explain(function)
    assert times > 0
    assert tagalong.stats().limits[name] == before + times
    assert f"limit `{name}` ({limits[name]}), reached {times} times: " in text


# The remaining stack cannot be that large.
@pytest.mark.parametrize("name", [name for name in REACHED if name != "stack"])
def test_limits_so_high_that_nothing_reaches_them(name: str) -> None:
    """Also where such a number is doubled, as an anchor's heat is after each failed recording."""
    _, source, arguments = REACHED[name]
    program = f"""
import tagalong
eager, names = {{}}, {{}}
exec({source!r}, eager)
exec({source!r}, names)
tagalong._core.set_option("loops", 1)
for name in tagalong._core.limits():
    if name not in ("heat", "grow_after", "retire_after", "stack"):
        tagalong._core.set_option(name, 999_999_999)
tagalong._core.set_option({name!r}, 999_999_999)
f = tagalong.trace(names["f"])
for argument in {arguments!r}:
    assert f(argument) == eager["f"](argument)
print(tagalong.stats(f).limits.get({name!r}, 0))
"""
    result = run("-c", program)
    assert result.stdout == "0\n", result.stderr[-2000:]
