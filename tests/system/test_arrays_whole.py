"""Functions that are one fusion group as a whole: their results come directly from the frame's slots."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, described
from chains_support import both, check
from tagalong import _core

WARM_UP = 5


@pytest.fixture(autouse=True)
def fusion() -> None:
    """The option's default."""
    _core.set_option("fusion", 2)


def wholes() -> int:
    return _core.counter("whole_groups")


def arrays(size: int = 7) -> list[np.ndarray]:
    return [np.linspace(1.0, 2.0, size), np.linspace(2.0, 3.0, size)]


PROGRAMS = {
    "return np.sqrt((x * y + x - y) * 0.5) + y": [],
    "a = x * y\n    b = np.exp(a)\n    return b - x": [],
    "x = x * 2.0\n    y = x + y\n    return x * y": [],
    "return (x * y + 1.0).sum()": [],
    "return x * s + y * s": [2.5],
    "t = s * 2.0 + 1.0\n    return x * t + y": [1.5],
    "t = n + 1\n    return x * t - y / t": [3],
    "np.multiply(x, 2.0, out=y)\n    np.add(y, x, out=y)\n    return y": [],
    "y += x * 2.0 - x * x\n    return None": [],
    "y += x * 2.0 - x * x\n    return x": [],
    "a = x + y * x\n    np.add(a, x, out=y)": [],
    "return np.where(x < y, x * 2.0, y - x)": [],
}


@pytest.mark.parametrize("body", PROGRAMS)
@pytest.mark.parametrize("errstate", ERRSTATES[:2], ids=str)
def test_whole_functions(body: str, errstate: dict[str, Any]) -> None:
    """They run as whole functions, and in steps if operands are others, errors have to be reported, or the like."""
    more = PROGRAMS[body]
    names = ", ".join(["x", "y", *["s" if isinstance(value, float) else "n" for value in more]])
    eager, traced = both(f"def f({names}):\n    {body}\n")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [*arrays(), *more], errstate)
    for size in (10, 1000, 3000, 1):
        before = wholes()
        check(eager, traced, lambda size=size: [*arrays(size), *more], errstate)
        # NumPy takes an in-place operator on one element for a reduction.
        assert wholes() > before or (size == 1 and ("+=" in body or "(y, x, out=y)" in body)), (
            tagalong.explain(traced)
        )
    others: list[list[Any]] = [
        [np.full(5, -1.0), np.zeros(5)],
        [np.full(5, 1e300), np.full(5, 1e300)],
        [np.full(5, np.nan), np.ones(5)],
        [np.ones((2, 3)), np.ones(3)],
        [np.ones(3), np.ones((2, 3))],
        [np.ones((2, 3)).T, np.ones((3, 2))],
        [np.ones(5, "f4"), np.ones(5)],
        [np.arange(5), np.arange(5)],
        [np.ones(5), 3.0],
        [2.0, np.ones(5)],
        [np.ones(5)[::2], np.ones(6)[::-2]],
        [np.ones(0), np.ones(0)],
    ]
    for other in [*others, *others]:
        check(
            eager,
            traced,
            lambda other=other: [*(np.copy(o) if np.ndim(o) else o for o in other), *more],
            errstate,
        )
        check(eager, traced, lambda: [*arrays(), *more], errstate)
    for number in (2, 2.5, True, 2**70, np.float64(1.5), np.int8(3)):
        check(eager, traced, lambda number=number: [*arrays(), *[number for _ in more]], errstate)


def test_names_are_rebound() -> None:
    eager, traced = both("def f(x):\n    return m.sqrt(x * K) + x\n", m=np, K=2.0)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.arange(5.0)])
    before = wholes()
    check(eager, traced, lambda: [np.arange(5.0)])
    assert wholes() == before + 1
    space = traced.__globals__
    module = type(sys)("m")
    module.sqrt = np.square  # type: ignore[attr-defined]
    for name, value in (
        ("K", 3.0),
        ("m", module),
        ("K", np.arange(5.0)),
        ("K", "no number"),
        ("m", np),
        ("K", 2.0),
    ):
        space[name] = value
        for _ in range(3):
            check(eager, traced, lambda: [np.arange(5.0)])
    del space["K"]
    check(eager, traced, lambda: [np.arange(5.0)])


class Noted:
    """Writes to a log when it dies."""

    def __init__(self, log: list[str], name: str) -> None:
        weakref.finalize(self, log.append, name)


@pytest.mark.parametrize(
    "body",
    [
        "return x * 2.0 + x * x",
        "second = x * 2.0\n    return second + x * x",
        "second = None\n    return x * 2.0 + x * x",
        "del second\n    return x * 2.0 + x * x",
        "first = second\n    return x * 2.0 + x * x",
    ],
)
def test_objects_that_die_with_the_frame(body: str) -> None:
    """Arguments without other references die in order, or earlier if they are rebound."""
    logs = []
    for function in both(f"def f(x, first, second):\n    {body}\n"):
        log: list[str] = []
        for _ in range(2 * WARM_UP):
            result = function(np.arange(5.0), Noted(log, "first"), Noted(log, "second"))
            log.append(repr(result))
        logs.append(log)
    assert logs[0] == logs[1]


def test_parameters_that_are_deleted_or_unbound() -> None:
    eager, traced = both("def f(x):\n    a = x * x\n    del x\n    return a + a * 2.0\n")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.arange(5.0)])
    views: list[Any] = []
    for function in (eager, traced):
        held = np.arange(5.0)
        seen = weakref.ref(held)
        result = function(held)
        del held
        views.append((described(result), seen() is None))
    assert views[0] == views[1]


def test_frames_that_are_held_or_watched() -> None:
    source = "def f(x, keep):\n    a = x * x\n    b = a + x\n    return b - a\n"
    eager, traced = both(source)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.arange(5.0), False])
    lines: list[list[int]] = []
    for function in (eager, traced):
        seen: list[int] = []

        def watch(frame: Any, event: str, _: Any, seen: list[int] = seen) -> Any:
            seen.append(frame.f_lineno)
            return watch

        sys.settrace(watch)
        try:
            result = function(np.arange(5.0), True)
        finally:
            sys.settrace(None)
        assert described(result) == described(eager(np.arange(5.0), True))
        lines.append(seen)
    assert lines[0] == lines[1]
    before = wholes()
    check(eager, traced, lambda: [np.arange(5.0), False])
    assert wholes() == before + 1


def test_inlined_calls_are_part_of_it() -> None:
    source = """
def g(a, b):
    return a * b + 1.0

def f(x, y):
    return g(x, y) - g(y, x * 2.0)
"""
    eager, traced = both(source)
    for _ in range(2 * WARM_UP):
        check(eager, traced, lambda: arrays())
    before = wholes()
    check(eager, traced, lambda: arrays())
    assert wholes() == before + 1
    traced.__globals__["g"] = lambda a, b: a - b
    for _ in range(WARM_UP):
        check(eager, traced, lambda: arrays())
