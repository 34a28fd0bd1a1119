"""Consecutive fusion groups, the later one taking parts of the earlier one's results: both run or neither."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tagalong
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

pytestmark = pytest.mark.usefixtures("settings")

# name: the function's body, and whether it becomes several consecutive fusion groups
PROGRAMS: dict[str, tuple[str, bool]] = {
    "along two axes": (
        """
        v = 0.25 * (a[:, :-2] + a[:, 2:]) + 0.5 * a[:, 1:-1]
        return 0.25 * (v[:-2] + v[2:]) + 0.5 * v[1:-1]
        """,
        True,
    ),
    "differences": ("v = a * b\nreturn v[1:] - v[:-1]", True),
    "stops that are counted from the beginning": ("v = a * b + 1\nreturn v[1:20] - v[:19]", True),
    "stops beyond the end": ("v = a * b + 1\nreturn (v[2:999] - v[:-2]) * 0.5", True),
    "numbers that are arguments": ("v = a * b + 1\nreturn v[n:] - v[:-n]", True),
    "the same rows": ("v = a * b + 1\nreturn v[3:-3] * v[3:-3] + 1", True),
    "arguments, too": ("v = a * b + 1\nreturn (v[1:] - v[:-1]) * a[1:] + b[:-1]", True),
    "one row of an argument": ("v = a * b + 1\nreturn (v[1:] - v[:-1]) * a[:1]", True),
    "roots": ("v = np.sqrt(a * a + b)\nreturn np.sqrt(v[1:] * v[:-1])", True),
    "comparisons": ("v = a - b\nreturn np.where(v[1:] > v[:-1], v[1:], 0.0)", True),
    "what is made is returned, too": ("v = a * b\nreturn v, v[1:] - v[:-1]", True),
    "a part that is whole": ("v = a * b\nreturn v[:] + v * 2", True),
    "every second row": ("v = a * b\nreturn v[::2] + v[::2] * 2", True),
    "backwards": ("v = a * b\nreturn v[::-1] - v", True),
    "one row": ("v = a * b\nreturn v[1:] - v[0]", True),
    "a new axis": ("v = a * b\nreturn v[None, 1:] - v[None, :-1]", True),
    "three in a row": ("v = a * b\nw = v[1:] - v[:-1]\nreturn w[1:] - w[:-1]", True),
    "a sum of it": ("v = a * b\nreturn np.sum(v[1:] - v[:-1])", True),
    "sums of its columns": ("v = a * b\nreturn (v[1:] * v[:-1]).sum(axis=0)", True),
    "a part is written": ("v = a * b + a\nv[1:] = 0.5\nreturn v * 2 + 1", False),
    "a part is changed in place": ("v = a * b\nw = v[1:]\nw += 1.0\nreturn v * 2 + 1", False),
    "changed after its part was taken": ("v = a * b\nw = v[1:]\nv *= 2.0\nreturn w * w + 1", True),
    "changed after its part was read": ("v = a * b\nw = v[1:] * 2.0\nv += 1.0\nreturn w + v[1:]", True),
    "no index": ("v = a * b\nreturn v[()] + v[...] * 2", True),
    "an axis less": ("v = a * b\nreturn v[1:, 0] - v[:-1, 0] * 2", True),
    "an axis more": ("v = a * b\nreturn v[1:, None] - v[:-1, None] * 2", True),
    "parts of parts": ("v = a * b\nreturn v[1:][:-1] - v[2:] + 1", True),
}


@pytest.fixture
def settings() -> Iterator[None]:
    saved = _core.options()
    FusionRuns.begin()
    _core.set_option("threads", 1)
    yield
    for name, value in saved.items():
        _core.set_option(name, value)


def made(body: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    lines = "\n".join(f"    {line.strip()}" for line in body.strip().splitlines())
    return both(f"def f(a, b, n):\n{lines}\n")


def arrays(shape: tuple[int, ...], order: str = "C") -> Callable[[], list[Any]]:
    random = np.random.default_rng(3)
    values = [random.uniform(1.0, 2.0, shape) for _ in range(2)]
    return lambda: [*(value.copy(order=order) for value in values), 1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    body, are_in_a_row = PROGRAMS[name]
    for shape in ((100, 30), (257,), (90, 4, 5)):
        if name in {"along two axes", "an axis less", "one row"} and len(shape) == 1:
            continue
        eager, traced = made(body)
        before = _core.counter("groups_in_passes")
        for _ in range(4):
            check(eager, traced, arrays(shape))
        ran = _core.counter("groups_in_passes") - before
        assert (ran >= 2) == are_in_a_row, (shape, ran)
    assert groups_run() > 0


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("shape", [(100, 30), (100, 1), (1, 100), (2, 50), (3, 3), (0, 4), (40, 0)])
def test_shapes(shape: tuple[int, ...], order: str) -> None:
    for body in ("v = a * b\nreturn v[1:] - v[:-1]", "v = a * b + a\nreturn (v[2:] - v[:-2]) * 0.5"):
        eager, traced = made(body)
        for _ in range(4):
            check(eager, traced, arrays(shape, order))


@pytest.mark.parametrize("dtype", ["f", "d", "i", "l", "D", "?", "e", "g"])
def test_dtypes(dtype: str) -> None:
    eager, traced = made("v = a * b + a\nreturn (v[2:] * v[:-2]) + b[1:-1]")
    values = [(np.random.default_rng(3).uniform(1.0, 9.0, (60, 20))).astype(dtype) for _ in range(2)]
    for _ in range(4):
        check(eager, traced, lambda: [*(value.copy() for value in values), 1])


@pytest.mark.parametrize("threads", [1, 2])
def test_large_ones(threads: int) -> None:
    """At ordinary sizes, where eager execution computes into temporaries."""
    _core.set_option("threads", threads)
    eager, traced = made(PROGRAMS["along two axes"][0])
    before = _core.counter("groups_in_passes")
    for shape in ((1000, 1000), (3000, 400), (700, 1500)):
        for _ in range(3):
            check(eager, traced, arrays(shape))
    assert _core.counter("groups_in_passes") - before >= 6
    eager, traced = made("v = a * b\nreturn v[1:] - v[:-1]")
    before = _core.counter("groups_in_passes")
    for _ in range(3):
        check(eager, traced, arrays((1_000_000,)))
    assert _core.counter("groups_in_passes") > before


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, 1e308, 5e-324, -0.0])
@pytest.mark.parametrize("place", [0, 1, 250, 251, 499])
def test_errors_that_must_be_reported(value: float, place: int, threads: int) -> None:
    """An error in one of many places: no other group may have a visible effect."""
    _core.set_option("threads", threads)
    _core.set_option("min_part", 1024)

    def make() -> list[Any]:
        random = np.random.default_rng(3)
        a, b = (random.uniform(1.0, 2.0, (500, 400)) for _ in range(2))  # 256 KiB and more
        a[place, 100] = value
        b[place, 101] = -value
        return [a, b, 1]

    for body in (
        "v = a * b * 10.0 + b\nreturn (v[1:] - v[:-1]) + (v[1:] + b[1:])",
        "v = (a + b) * a\nreturn np.sqrt(v[1:] * v[:-1]) / v[1:]",
    ):
        eager, traced = made(body)
        for state in ({"all": "warn"}, {"all": "ignore"}, {"all": "raise"}, {"all": "warn"}):
            for _ in range(2):
                check(eager, traced, make, state)


def test_signs_of_nans() -> None:
    """The payload that remains depends on the operand into which eager execution computes."""
    payloads = np.array([0x7FF8000000000123, 0xFFF8000000000456], dtype=np.uint64).view(np.float64)
    random = np.random.default_rng(3)
    values = [random.uniform(1.0, 2.0, (400, 200)) for _ in range(2)]
    values[0][200, 50], values[1][200, 50] = payloads
    for body in (
        "v = a * 2 + (b * 3)\nreturn b[1:] + (v[1:] * v[:-1])",
        "v = b + (a * 2)\nreturn (v[1:] + 1) * (b[:-1] + v[:-1])",
    ):
        eager, traced = made(body)
        for _ in range(4):
            check(eager, traced, lambda: [*(value.copy() for value in values), 1], {"all": "ignore"})


def test_in_a_loop() -> None:
    body = """
    def f(a, b, n):
        for k in range(20):
            v = a * 0.5 + b
            a = (v[2:] + v[:-2]) * 0.25 + v[1:-1] * 0.5
            b = b[1:-1]
        return a
    """
    eager, traced = both(textwrap.dedent(body))
    for _ in range(4):
        check(eager, traced, arrays((120, 7)))
    assert groups_run() > 0


def test_layouts_that_change() -> None:
    eager, traced = made("v = a * b\nreturn v[1:] - v[:-1]")
    for _ in range(3):
        check(eager, traced, arrays((60, 20)))
    check(eager, traced, arrays((60, 20), "F"))
    before = _core.counter("groups_in_passes")
    for _ in range(20):
        check(eager, traced, arrays((60, 20)))
    assert _core.counter("groups_in_passes") > before


def test_they_are_explained() -> None:
    _, traced = made("v = a * b\nreturn v[1:] - v[:-1]")
    for _ in range(3):
        traced(*arrays((100, 30))())
    assert tagalong.stats(traced).hits == 2
    assert "2 array operations as one, 2 times" in tagalong.explain(traced)
