"""A fusion group keeps the layouts of its last run. Results are those of eager NumPy when the next run has others."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest

from arrays_support import misaligned
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

WARM_UP = 4
STENCIL = """
def f(x, y, n):
    return x[1:-1, 2:] + x[1:-1, :-2] + x[2:, 1:-1] + x[:-2, 1:-1] - 4.0 * x[1:-1, 1:-1]
"""


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()
    _core.set_option("retire_after", 0)


def numbers(*shape: int) -> np.ndarray:
    return np.linspace(1.0, 2.0, int(np.prod(shape))).reshape(shape) ** 2


def kept(call: Callable[[], Any]) -> int:
    """How many runs within the call had the layouts of the run before."""
    before = _core.counter("layouts_kept")
    call()
    return _core.counter("layouts_kept") - before


def frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


LAYOUTS: dict[str, Callable[[], np.ndarray]] = {
    "the same": lambda: numbers(8, 9),
    "another shape": lambda: numbers(9, 8),
    "as many elements": lambda: numbers(6, 12),
    "the order of Fortran": lambda: np.asfortranarray(numbers(8, 9)),
    "every second column": lambda: numbers(8, 18)[:, ::2],
    "rows in reverse": lambda: numbers(8, 9)[::-1],
    "a repeated row": lambda: np.broadcast_to(numbers(9), (8, 9)),
    "not aligned": lambda: misaligned(numbers(8, 9)),
    "read-only": lambda: frozen(numbers(8, 9)),
    "more axes": lambda: numbers(8, 9, 2),
    "floats": lambda: numbers(8, 9).astype("f"),
    "large": lambda: numbers(300, 400),
    "a result of one row": lambda: numbers(3, 9),
    "no result": lambda: numbers(2, 9),
}


def test_a_run_finds_the_layouts_of_the_run_before() -> None:
    eager, traced = both(STENCIL)
    for _ in range(WARM_UP):
        traced(numbers(8, 9), 0, 0)
    assert kept(lambda: check(eager, traced, lambda: [numbers(8, 9), 0, 0])) == 1
    assert kept(lambda: check(eager, traced, lambda: [numbers(9, 8), 0, 0])) == 0
    assert kept(lambda: check(eager, traced, lambda: [numbers(9, 8), 0, 0])) == 1


@pytest.mark.parametrize(("one", "other"), list(product(["the same", "the order of Fortran"], LAYOUTS)))
def test_layouts_that_change(one: str, other: str) -> None:
    eager, traced = both(STENCIL)
    for name in [one] * WARM_UP + [other, other, one, one, other, one]:
        check(eager, traced, lambda name=name: [LAYOUTS[name](), 0, 0])
    assert groups_run() > 0


@pytest.mark.parametrize("body", ["x[n:] * 2.0 + x[:-n]", "np.roll(x, n, 0) * 2.0 + x", "x[n] * 2.0 + x[0]"])
def test_numbers_that_change(body: str) -> None:
    eager, traced = both(f"def f(x, y, n):\n    return {body}")
    for n in (2, 2, 2, 2, 3, 3, 2, 1, 1, -1, -1, 7, np.int64(7), np.int64(3), 3, 99, 3):
        check(eager, traced, lambda n=n: [numbers(8, 9), 0, n])
    assert groups_run() > 0


def test_a_place_that_changes() -> None:
    """The same layout at another address is bound as before."""
    eager, traced = both("def f(x, y, n):\n    return x[n, 1:] * 2.0 + x[n + 1, :-1]")
    for _ in range(WARM_UP):
        traced(numbers(8, 9), 0, 1)
    for n in (1, 2, 3, -2, -4):
        assert kept(lambda n=n: check(eager, traced, lambda: [numbers(8, 9), 0, n])) == 1, n


@pytest.mark.parametrize("name", LAYOUTS)
def test_targets(name: str) -> None:
    """Flags of a target are checked anew, and whether it overlaps what is read later."""
    source = "def f(x, y, n):\n    x[1:-1] = y[2:] + y[:-2] * 0.5\n    x[2:] += y[:-2] * 2.0\n    return x"
    eager, traced = both(source)
    for usual in [True] * WARM_UP + [False, True, False, False, True]:
        check(
            eager, traced, lambda usual=usual: [numbers(8, 9) if usual else LAYOUTS[name](), numbers(8, 9), 0]
        )
    assert groups_run() > 0


def test_targets_that_overlap() -> None:
    eager, traced = both("def f(x, y, n):\n    x[:] = y * 2.0 + 1.0\n    x += y * 0.5")

    def parts(first: int) -> list[Any]:
        whole = numbers(60)
        return [whole[first : first + 20], whole[30:50], 0]

    for first in (0, 0, 0, 0, 15, 30, 0, 29, 40, 0):
        check(eager, traced, lambda first=first: parts(first))
    assert groups_run() > 0


def test_sums_of_rows() -> None:
    source = (
        "def f(x, y, n):\n    v = x[1:] - x[:-1]\n    return v / np.sqrt((v * v).sum(axis=1, keepdims=True))"
    )
    eager, traced = both(source)
    for shape in [(8, 9)] * WARM_UP + [(8, 9), (9, 8), (9, 8), (8, 9), (8, 200), (8, 200), (8, 9)]:
        check(eager, traced, lambda shape=shape: [numbers(*shape), 0, 0])
    assert groups_run() > 0


def test_large_arrays_in_several_threads() -> None:
    """Runs that release the GIL have layouts of their own."""
    eager, traced = both(STENCIL)
    arrays = [numbers(400, 300), numbers(300, 400), numbers(8, 9)]
    expected = [eager(array, 0, 0) for array in arrays]
    for array in arrays * 2:
        traced(array, 0, 0)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda number: traced(arrays[number % 3], 0, 0), range(120)))
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected[number % 3])
