"""Numbers, attributes, items and shapes between array operations do not end a fusion group."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import array_scalar_programs
import tagalong
from chains_support import FusionRuns, both, check

WARM_UP = 6
NAMES: dict[str, Any] = {"np": np}
exec(compile(array_scalar_programs.HELPERS, "<helpers>", "exec"), NAMES)  # noqa: S102
READING = array_scalar_programs.NUMBERS[: array_scalar_programs.USUAL]
# Functions that are written in Python, or whose call NumPy or an iterator has to make.
NOT_FUSED = {
    "round(s)",
    "np.float64(n)",
    "a.reshape(-1)[0]",
    "float(b.reshape(-1)[1])",
    "m.inner.scale / n",
    "int(s)",
}
NOT_FUSED.add("n // 2 + n % 2")  # the remainder may be the object of the left operand


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()


def operations(traced: Any) -> list[int]:
    """The numbers of operations of the groups that have run more than once, from the report."""
    words = [line.split() for line in str(tagalong.explain(traced)).splitlines()]
    return [
        int(line[line.index("array") - 1])
        for line in words
        if "as" in line and "one," in line and int(line[line.index("one,") + 1]) > 1
    ]


def operands(size: int = 50) -> list[Any]:
    a = np.linspace(0.5, 2.0, size)
    return [a, a[::-1].copy(), a * 2, 0.75, 3, NAMES["Model"](a), {"dt": 0.5, "steps": 3}]


@pytest.mark.parametrize("number", READING)
@pytest.mark.parametrize("place", ["straight", "loop"])
def test_number_is_part_of_the_group(number: str, place: str) -> None:
    head, tail = (
        "def f(a, b, c, s, n, m, p):\n    k = lambda: v\n    v = s\n",
        f"(a + b) * ({number}) - c * b",
    )
    source = f"{head}    return {tail}\n"
    if place == "loop":
        source = f"{head}    for _ in range(6):\n        a = {tail}\n    return a\n"
    eager, traced = both(source, **NAMES)
    for _ in range(WARM_UP):
        check(eager, traced, operands)
    for size in (1, 7, 3000):
        check(eager, traced, lambda size=size: operands(size))
    if number not in NOT_FUSED:
        assert 4 in operations(traced), tagalong.explain(traced)


PROGRAMS = {
    "arrays of objects": "return (m.weights * m.rate + a) * m.inner.count - m.weights",
    "methods": "return (a * m.decay(s) + b) * m.decay(s) - a",
    "a method and a slice": "return (a[1:] * m.rate + b[:-1]) * p['dt'] - a[:-1] * m.gravity",
    "an item of a parameter": "return (a - a[0]) / (a[-1] - a[0]) * b[2]",
    "a condition": "return (a + b) * (s if s > 0.5 else n) + (c if n == 3 else a)",
    "in-place operators": "a *= m.rate\n    a += b * p['dt']\n    return a * s",
    "assigned slices": "b[1:-1] = (a[2:] - a[:-2]) * p['dt'] / (2 * m.rate) + b[1:-1] * s ** 2\n    return b",
    "reductions": "return ((a * m.rate).sum() + len(a)) * b + a.shape[0]",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    eager, traced = both(f"def f(a, b, c, s, n, m, p):\n    {PROGRAMS[name]}\n", **NAMES)
    for size in (50,) * WARM_UP + (7, 3000):
        check(eager, traced, lambda size=size: operands(size))
    assert sum(operations(traced)) >= 2, tagalong.explain(traced)


def test_elements_are_read_behind_writes() -> None:
    source = (
        "def f(a, b, c, s, n, m, p):\n    a *= 2.0\n    b = b + c\n    d = b * a[0]\n    m.weights[:] = d\n"
        "    return d * m.weights[1] - a[0]\n"
    )
    eager, traced = both(source, **NAMES)
    for _ in range(WARM_UP):
        check(eager, traced, operands)
    assert tagalong.stats(traced).hits > 0


def test_what_is_read_changes_between_calls() -> None:
    eager, traced = both("def f(x, o, d):\n    return (x + o.k) * d['k'] - o.k\n")
    holder, items, x = SimpleNamespace(k=1.5), {"k": 2}, np.arange(9.0)
    for k in (
        1.5,
        1.5,
        1.5,
        1.5,
        2,
        np.float32(3),
        True,
        "k",
        None,
        1 + 2j,
        np.arange(9),
        [1.0] * 9,
        2.5,
        2.5,
    ):
        for target in (holder, items):
            if target is holder:
                holder.k = k
            else:
                items["k"] = k
            check(eager, traced, lambda: [x, holder, items])
    assert tagalong.stats(traced).hits > 0


class Counting:
    """Attributes that count how often they are read."""

    def __init__(self) -> None:
        self.reads = 0

    @property
    def value(self) -> float:
        self.reads += 1
        return float(self.reads)

    def __len__(self) -> int:
        self.reads += 1
        return self.reads

    def __getitem__(self, key: Any) -> int:
        self.reads += 1
        return self.reads

    def __float__(self) -> float:
        self.reads += 1
        return float(self.reads)


@pytest.mark.parametrize("number", ["o.value", "len(o)", "o[0]", "math.sqrt(o)", "abs(-o.value)"])
def test_code_of_the_program_runs_once(number: str) -> None:
    eager, traced = both(f"def f(x, o):\n    return (x + 1.0) * {number} - x * {number}\n", math=math)
    x = np.arange(9.0)
    for _ in range(WARM_UP):
        one, other = Counting(), Counting()
        assert eager(x, one).tobytes() == traced(x, other).tobytes()
        assert one.reads == other.reads == 2
    assert tagalong.stats(traced).hits > 0


@pytest.mark.parametrize(
    ("number", "values"),
    [
        ("1 / s", [2.0, 0.0]),
        ("math.sqrt(s)", [2.0, -1.0]),
        ("l[s]", [0, 5]),
        ("d[s]", [0, 5]),
        ("np.float64(1e308) * s", [0.5, 1e10]),
        ("np.exp(s)", [0.5, 1e10]),
        ("s ** s", [2.0, 1e300]),
    ],
)
@pytest.mark.parametrize("errstate", [{"all": "warn"}, {"all": "raise"}, {"all": "call"}], ids=str)
def test_exceptions_and_warnings_keep_their_order(
    number: str, values: list[Any], errstate: dict[str, Any]
) -> None:
    """An operation on arrays in front of the number reports first."""
    source = f"def f(x, y, s):\n    v = x / y\n    w = v * ({number})\n    return w + v / y\n"
    eager, traced = both(source, math=math, l=[1.5], d={0: 2.5})
    for y in (1.0, 1.0, 1.0, 1.0, 0.0, 1.0):
        for value in (values[0], values[0], values[1], values[0]):
            check(eager, traced, lambda y=y, value=value: [np.arange(5.0), np.full(5, y), value], errstate)
    assert tagalong.stats(traced).hits > 0


def test_new_objects_are_new() -> None:
    source = (
        "def f(x, o):\n    y = x + o.k\n    a, b = x.shape, x.shape\n    c = o.k * 2\n    d = o.k * 2\n"
        "    return y * a[0] + b[0], a is b, c is d, o.k is o.k\n"
    )
    eager, traced = both(source)
    holder = SimpleNamespace(k=1.5)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.arange(9.0), holder])


def test_globals_that_change_do_not_cost_the_plan() -> None:
    """A builtin stays known while other global variables are bound."""
    eager, traced = both("def f(x):\n    return (x + len(x)) * abs(x[0]) - x\n")
    for number in range(30):
        traced.__globals__["other"] = number
        check(eager, traced, lambda: [np.arange(9.0) - 4])
    assert operations(traced) == [3], tagalong.explain(traced)
