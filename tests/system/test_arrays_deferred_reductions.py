"""Reductions of all elements, in calls that are being recorded.

The resulting numbers are deferred, and so are operations on them. The program never sees a number that has not been
computed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, HAS_CODE, described
from chains_support import both
from chains_support import compare_first_calls as compare
from tagalong import _core
from test_arrays_deferred_calls import CALLS_BACK, RAISES
from test_arrays_deferred_names import SIZE, Statements, check, check_random_program, line

REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all", "amax", "amin")


@pytest.fixture(autouse=True)
def everything_is_deferred() -> None:
    _core.set_option("fusion", 2)
    _core.set_option("min_deferred", 1)


# The function's body, and how many expressions of doubles are computed as one group.
PROGRAMS = {
    "softmax": ("e = np.exp(x - np.max(x)); return e / np.sum(e)", 1),
    "in one expression": ("return np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x)))", 1),
    "a number at the end": ("d = x - y; return np.sum(d * d)", 1),
    "a number of one operation": ("return np.sum(x * y)", 1),
    "several numbers": ("d = x * y; return np.sum(d), np.max(d), np.min(d)", 1),
    "numbers and arrays": ("m = np.max(x); d = x - m; s = np.sum(d); return d / s, m, s", 1),
    "variance": ("m = np.mean(x); d = x - m; return np.sum(d * d) / 2.0", None),
    "three in a row": ("a = x - np.mean(x); b = a / np.max(a); c = b * y - np.sum(b); return c", 1),
    "four in a row": (
        "a = x - np.mean(x); b = a / np.max(a); c = b - np.sum(b); d = c * np.min(c); return d - np.max(d)",
        None,
    ),
    "of an operand": ("m = np.max(x); n = np.min(y); return x * m - y * n, m", 1),
    "unused": ("a = x * y; np.sum(a); np.max(x); return a - y", 1),
    "bound anew": ("m = np.max(x); a = x - m; m = np.sum(a); b = a / m; m = x; return b * m", 1),
    "by another name": ("m = np.max(x); n = m; a = x - n; n = np.sum(a); return a * n, m, n", 1),
    "numbers alone": ("m = np.max(x); n = np.sum(y); k = m * n + 1.0; return x * k, k", None),
    "a number and a Python number": ("m = np.max(x) + 1.0; a = x / m; return a - np.sum(a) * 2.0", None),
    "compared": ("m = np.max(x); a = np.where(x < m, x, y); b = a > np.mean(a); return b, a", None),
    "a condition": ("m = np.sum(x * y)\n    if m > 1.0: x = x - m\n    return x * y, m", None),
    "a number of what is true": ("a = x < y; n = np.sum(a); return x * n, n, np.any(a), np.all(a)", None),
    "converted": ("m = float(np.sum(x * y)); a = x - m; return a * int(np.max(a) * 100.0)", None),
    "in a container": ("d = x * y; return [np.sum(d), (np.max(d), d)]", None),
    "as an item": ("d = x * y; x[0] = np.sum(d); x[1] = np.max(d); return x - d", None),
    "as an item, alone": ("x[0] = np.sum(x * y); return x - y", None),
    "as a part": ("d = x * y; x[3:] = np.max(d); return x - d", None),
    "as an index": ("d = np.floor(x * 3.0); n = np.max(d); return x[: int(n)], n", None),
    "in place": ("d = x * y; d -= np.max(d); s = np.sum(d); d /= s; return d, s", None),
    "in place a number": ("s = np.sum(x * y); s += 1.0; s *= 2.0; return x * s, s", None),
    "along an axis": ("d = x * y; s = np.sum(d, axis=0); t = np.sum(d, 0); return d / s - t", None),
    "with keywords": ("d = x * y; s = np.sum(d, keepdims=True); return d / s, np.max(d, initial=0.0)", None),
    "methods": ("d = x * y; s = d.sum(); m = d.max(); return (d - m) / s", 1),
    "methods of operands": ("m = x.max(); d = x - m; s = y.sum(); return d / s, m", 1),
    "methods in one expression": ("return np.exp(x - x.max()) / np.exp(x - x.max()).sum()", 1),
    "methods with arguments": (
        "d = x * y; s = d.sum(0); m = d.max(axis=0); return (d - m) / s.max(None)",
        None,
    ),
    "methods that are loaded only": ("d = x * y; s = d.sum; m = d.max(); return d * m - s()", None),
    "a method of what is elsewhere": (
        "d = x * y; s = np.ndarray.sum(d); return d / s, np.ndarray.max(x)",
        None,
    ),
    "a method of numbers": ("d = x * y; s = d.sum().max(); m = np.max(d).sum(); return d / s - m", None),
    "a method there is not": ("d = x * y; s = d.sum(); t = d.total(); return d / s - t", None),
    "other methods": ("d = x * y; s = d.std(); t = d.cumsum(); u = d.argmax(); return d / s - t, u", None),
    "a method behind an exception": (
        "m = x.max(); d = x - m; s = d.sum(); n = d.min(nothing); return d / s",
        None,
    ),
    "of a part": ("d = x * y; s = np.sum(d[1:]); return d - s, np.max(x[::2]) * d", None),
    "of other shapes": (
        "a = x[:, None] * y[:7]; s = np.sum(a); b = a / s; t = np.max(x); return b * t, t",
        None,
    ),
    "of rows": ("a = x[:, None] + y[:7]; return a / np.max(a) - np.mean(a)", None),
    "of a number": ("a = x * y; n = np.max(3.0); m = np.sum(k); return a * n - m", None),
    "of a list": ("a = x * y; n = np.max([1.0, 2.0]); return a * n - np.sum((a[0], 2.0))", None),
    "seen by a callee": ("m = np.max(x); a = x - m; note(m); s = np.sum(a); note(a); return a / s, s", None),
    "it calls a function": ("m = np.max(x); a = h(x - m, y); s = np.sum(a); return h(a, a) / s", None),
    "in a loop": (
        "a = x\n    for i in range(3): a = a * 0.5 - np.max(a); s = np.sum(a)\n    return a / s, s",
        None,
    ),
    "in a try": (
        "a = x - np.max(x)\n    try: b = np.log(a / np.sum(a))\n    except FloatingPointError: b = a"
        "\n    return b * np.min(b)",
        None,
    ),
    "an exception behind it": ("m = np.max(x); a = x / m; s = np.sum(a); return a * s + nothing", None),
    "names are asked for": ("m = np.max(x); a = x - m; s = sorted(locals()); return a * m, len(s)", None),
    "names are deleted": ("m = np.max(x); a = x - m; del m; s = np.sum(a); return a / s", None),
}
NEEDS_NO_LOOPS = ("for ", "if ", "try")


def source_of(what: str) -> str:
    body = PROGRAMS[what][0]
    if not any(word in body for word in NEEDS_NO_LOOPS):
        body = body.replace("; ", "\n    ")
    return f"def h(x, y):\n    a = x + y\n    return a * a\ndef f(x, y, k):\n    {body}\n"


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("code", "dflD?")
def test_programs(what: str, code: str) -> None:
    if code in "D?" and ("floor" in source_of(what) or "int(" in source_of(what)):
        pytest.skip("no such loop")
    if "nothing" in PROGRAMS[what][0] or "total" in PROGRAMS[what][0]:
        check(source_of(what), lambda: [*(array.astype(code) for array in line()), 3], {"all": "ignore"})
        return
    make = lambda: [*(array.astype(code) for array in line()), 3]  # noqa: E731
    try:
        counts = compare(source_of(what), make, {"all": "ignore"})
    except TypeError:  # NumPy cannot subtract bools
        assert code == "?"
        check(source_of(what), make, {"all": "ignore"})
        return
    assert PROGRAMS[what][1] is None or code != "d" or counts == (PROGRAMS[what][1], 0)


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("state", [*ERRSTATES, RAISES, CALLS_BACK], ids=str)
def test_reports_and_their_frames(what: str, state: dict[str, Any]) -> None:
    """The reduced elements and their sums are zeros, NaNs, infinities or too large."""

    def make(special: float) -> list[Any]:
        x, y = line()
        x[5] = y[7] = 0.0
        x[9] = special
        y[11] = 1e308
        return [x, y, 3]

    for special in (-1.0, np.nan, np.inf, 1e308):
        for other in ("x * y", "x / y"):
            check(source_of(what).replace("x * y", other), lambda: make(special), state)  # noqa: B023


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("code", "?bBhilLqQfdFDe")
def test_every_reduction_of_every_dtype(name: str, code: str) -> None:
    """The number has NumPy's dtype, in all operations that use it."""
    lines = ("a = x * y", f"s = np.{name}(a)", "b = np.multiply(a, s)", f"return b, s, np.{name}(x)")
    source = "def f(x, y):\n    " + "\n    ".join(lines)

    def make() -> list[Any]:
        with np.errstate(all="ignore"):
            return [(array * 3.0).astype(code) for array in line()]

    for state in ({"all": "ignore"}, {"all": "warn"}, {"all": "raise"}):
        check(source, make, state)


def test_numbers_are_never_seen_before_they_are_computed() -> None:
    source = """
def f(x, y):
    m = np.max(x)
    s = np.sum(x - m)
    look()
    a = x / s
    t = np.sum(a)
    u = thing.computed
    return a * t, u
"""
    kinds: list[Any] = []

    class Thing:
        @property
        def computed(self) -> float:
            look(2)
            return 1.0

    def look(depth: int = 1) -> None:
        names = sys._getframe(depth).f_locals
        kinds.append(sorted((name, described(value)) for name, value in names.items()))

    outcomes = []
    for function in both(source, look=look, thing=Thing()):
        kinds.clear()
        outcomes.append(([described(one) for one in function(*line())], list(kinds)))
    assert outcomes[0] == outcomes[1]


def test_the_reduced_array_needs_no_memory() -> None:
    """The sum of a large product needs no memory for the product, except blocks, in a call that is being recorded."""
    if not HAS_CODE:
        pytest.skip("operations are not fused on this machine")
    _core.set_option("min_deferred", 384 << 10)
    import resource

    size = 4_500_000
    x = np.linspace(0.25, 1.5, size)
    source = "def f(x):\n    d = x - np.mean(x)\n    return np.sum(d * d)"

    def pages(function: Any) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        function(x)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    both(source)[1](x)  # things that are made once in a process
    traced = both(source)[1]
    assert pages(traced) < 200


def test_a_function_that_replaces_the_reduction_is_called() -> None:
    """A function of the program with that name is called as in eager execution."""
    calls: list[int] = []

    def own_sum(x: Any) -> Any:
        calls.append(sys._getframe(1).f_lineno)
        return np.add.reduce(x) + 1.0

    source = "def f(x, y):\n    a = x * y\n    s = own_sum(a)\n    b = a / s\n    return b - np.max(b)"
    for function in both(source, own_sum=own_sum):
        function(*line())
    assert len(calls) == 2 and calls[0] == calls[1]


@pytest.mark.parametrize("kind", ["subclass", "dispatched", "masked"])
def test_other_arrays(kind: str) -> None:
    class Sub(np.ndarray):
        def sum(self, *arguments: Any, **keywords: Any) -> Any:
            return "its own"

    class Dispatched:
        def __array_function__(self, function: Callable[..., Any], *_: Any) -> Any:
            return function.__name__

    def make() -> list[Any]:
        x, y = line()
        return [
            x,
            {"subclass": y.view(Sub), "dispatched": Dispatched(), "masked": np.ma.masked_less(y, 1.5)}[kind],
        ]

    source = "def f(x, y):\n    a = x * 2.0\n    b = a - np.max(a)\n    s = np.sum(y)\n    return b * 2.0, s"
    outcomes = []
    for function in both(source):
        result, number = function(*make())
        outcomes.append((described(result), str(number)))
    assert outcomes[0] == outcomes[1]


def test_replays_take_the_same_machine_code() -> None:
    """The code of the recorded call, and of another function with the same operations."""
    if not HAS_CODE:
        pytest.skip("there is none")

    def softmax(x):
        e = np.exp(x - np.max(x))
        return e / np.sum(e)

    x = line(50_000)[0]
    _core.counters()
    first = tagalong.trace(FunctionType(softmax.__code__.replace(), softmax.__globals__, "softmax"))
    first(x)
    made, there = _core.counter("code_made"), _core.counter("code_found")
    second = tagalong.trace(FunctionType(softmax.__code__.replace(), softmax.__globals__, "softmax"))
    for function in (first, second):
        for _ in range(3):
            function(x)
    assert _core.counter("code_made") == made and _core.counter("code_found") >= there + 2
    assert tagalong.stats(first).hits == 3 and tagalong.stats(second).hits == 2


# --- random programs


class Numbers(Statements):
    """Like the base class, with some values reduced."""

    def make(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.25:
            name, text = self.random.choice(REDUCTIONS[:7]), super().make(depth - 1)
            return f"np.{name}(\n {text})" if self.random.random() < 0.6 else f"({text}).{name}(\n)"
        return super().make(depth)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs(seed: int) -> None:
    check_random_program(seed, of=Numbers, name="waiting reductions")


def test_random_programs_are_computed_as_one() -> None:
    seeds = range(1000, 1040)
    assert sum(check_random_program(seed, of=Numbers, name="waiting reductions") > 0 for seed in seeds) >= 15


assert SIZE >= 128  # so that sums are pairwise
