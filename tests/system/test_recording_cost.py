"""Recording takes time in proportion to the function's length, also with many loops: each is recorded alone."""

from __future__ import annotations

import gc
import time
from typing import Any

import pytest

import tagalong
from tagalong import _core


def function_of(loops: int, of_their_own: bool) -> Any:
    """A function of many consecutive loops, with one variable for all or one each."""
    lines = ["def f(rounds):", "    t = 0"]
    for number in range(loops):
        name = f"t{number}" if of_their_own else "t"
        lines += [
            f"    {name} = {number}",
            "    for i in range(rounds):",
            f"        {name} += i * {number + 1}",
        ]
    names: dict[str, Any] = {}
    exec("\n".join([*lines, f"    return {name}"]), names)
    return names["f"]


def seconds(loops: int, of_their_own: bool) -> float:
    best = float("inf")
    for _ in range(3):
        f = tagalong.trace(function_of(loops, of_their_own), limits={"executors": 100_000})
        gc.collect()
        start = time.process_time()
        result = f(20)
        best = min(best, time.process_time() - start)
        assert result == function_of(loops, of_their_own)(20)
        assert tagalong.stats(f).records == loops + 1 and tagalong.stats(f).hits >= loops
        before = tagalong.stats(f).hits
        assert f(20) == result and tagalong.stats(f).hits >= before + loops
    return best


def test_many_loops_take_as_many_times_as_long() -> None:
    _core.set_option("loops", 1)
    _core.set_option("native_after", 1_000_000)
    few, many = seconds(40, False), seconds(320, False)
    assert many < 20 * few, f"8 times as many loops took {many / few:.1f} times as long"


@pytest.mark.parametrize("of_their_own", [False, True])
def test_recording_code_that_is_used_again(of_their_own: bool) -> None:
    """By the recordings of one function in turn, also if it calls another one that is recorded meanwhile."""
    _core.set_option("loops", 1)
    _core.set_option("heat", 2)
    inner = tagalong.trace(function_of(9, of_their_own))
    eager = function_of(9, of_their_own)
    names: dict[str, Any] = {"g": inner}
    source = "".join(
        f"    for i in range(n):\n        try:\n            s += g(i) + 6 // (i - {number})\n"
        f"        except ZeroDivisionError:\n            s -= i\n"
        for number in range(9)
    )
    exec(f"def outer(n):\n    s = 0\n{source}    return s", names)
    outer = tagalong.trace(names["outer"])
    expected = {"g": eager}
    exec(f"def outer(n):\n    s = 0\n{source}    return s", expected)
    for n in (3, 12, 5, 12, 30):
        assert outer(n) == expected["outer"](n)  # type: ignore[operator]
    assert tagalong.stats(outer).records > 9 and tagalong.stats(outer).hits > 9
