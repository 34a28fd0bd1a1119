"""Machine code that takes two vectors at a time: remainders, elements left to NumPy, sums that need no array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tagalong
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core
from test_arrays_vectors import ARE_USED

WARM_UP = 6
SIZES = (*range(1, 50), 127, 128, 129, 136, 1023, 1024, 1025, 1040, 4095, 4096, 4104, 4111, 8200, 12_345)
BODIES = (
    "return np.exp(x) * y",
    "return np.log(y) + np.exp(x - y)",
    "return np.where(x < y, x * 2.0 + y, y - x), x * y",
    "return (x + y) / (x * x + 2.5), np.sqrt(y)",
    "return np.exp(np.log(y) * 0.5 - x), np.log(np.exp(x) + y)",
    "return np.sum(np.exp(x - y))",
    "return (x * y).sum()",
    "e = np.exp(x - y)\n    return e / np.sum(e)",
    "a = x * y\n    return a, np.sum(a - x)",
    "return np.sum(x / y), np.max(x * y)",
    "return np.mean((x - y) ** 2)",
    "return np.sum(np.where(x < y, x, y))",
)
# More values at once than there are registers for two vectors.
WIDE = (
    "    "
    + "\n    ".join(f"a{i} = x * {i + 1.5} + y" for i in range(14))
    + "\n    return "
    + " + ".join(f"a{i} * a{13 - i}" for i in range(14))
)
SPECIAL = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e-200, -1e-200, 700.0, 800.0, -800.0, 1e308)


@pytest.fixture(autouse=True)
def _begin() -> None:
    FusionRuns.begin()


def operands(size: int) -> list[Any]:
    random = np.random.default_rng(size)
    return [random.uniform(-2.0, 2.0, size), random.uniform(0.5, 3.0, size)]


@pytest.mark.parametrize("body", [*BODIES, WIDE.strip()])
def test_every_size(body: str) -> None:
    eager, traced = both(f"def f(x, y):\n    {body}\n")
    for size in (*[1000] * WARM_UP, *SIZES):
        check(eager, traced, lambda size=size: operands(size))
        for shift in (1, 3):
            check(eager, traced, lambda size=size, shift=shift: [o[shift:] for o in operands(size + shift)])
    assert groups_run() > len(SIZES), tagalong.explain(traced)
    assert tagalong.stats(traced).hits > len(SIZES)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("size", [37, 1030, 4100])
def test_special_values(body: str, size: int) -> None:
    """In the first and the second vector of a round, in both, in the remainder; in x and in y."""
    eager, traced = both(f"def f(x, y):\n    {body}\n")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands(size))
    places = {0, 7, 8, 13, 16, size // 2, size // 2 + 8, size - 14, size - 9, size - 1}
    for special in SPECIAL:
        for place in sorted(places):
            for which in (0, 1):

                def make(special: float = special, place: int = place, which: int = which) -> list[Any]:
                    made = operands(size)
                    made[which][place] = special
                    return made

                check(eager, traced, make, {"all": "ignore"})
    for special in SPECIAL[:8]:
        for errstate in ({"all": "warn"}, {"all": "raise"}, {"all": "call"}):

            def make(special: float = special) -> list[Any]:
                made = operands(size)
                made[0][size // 2] = made[1][size // 3] = special
                return made

            check(eager, traced, make, errstate)
    assert groups_run() > WARM_UP, tagalong.explain(traced)


def test_payloads() -> None:
    """Which of several NaNs a sum is."""
    nans = (np.array([0x7FF8_0000_0000_0001, 0x7FF8_0000_0000_0ABC, 0xFFF8_0000_0000_0003], "u8")).view(float)
    for body in ("return (x * y).sum()", "return np.sum(np.exp(x) + y)", "e = x - y\n    return e, e.sum()"):
        eager, traced = both(f"def f(x, y):\n    {body}\n")
        for size in (100, 1000, 4100, 9000):
            for _ in range(WARM_UP):
                check(eager, traced, lambda size=size: operands(size), {"all": "ignore"})
            for seed in range(20):

                def make(size: int = size, seed: int = seed) -> list[Any]:
                    made = operands(size)
                    random = np.random.default_rng(seed)
                    for array in made:
                        array[random.integers(0, size, 2)] = random.choice(nans, 2)
                    return made

                check(eager, traced, make, {"all": "ignore"})
        assert groups_run() > 0


@pytest.mark.skipif(not ARE_USED, reason="another NumPy, or processor")
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_of_values_without_memory(threads: int) -> None:
    """Long blocks, divided as pairwise summation divides: all lengths near its limits."""
    _core.set_option("threads", threads)
    _core.set_option("min_part", 4096)
    eager, traced = both("def f(x, y):\n    return (np.exp(x) - y).sum()\n")
    before = _core.counter("fused_sums")
    lengths = {n + d for n in (128, 1024, 4096, 8192, 16_384, 100_000) for d in (-9, -8, -1, 0, 1, 7, 8, 9)}
    for size in (*[5000] * WARM_UP, *sorted(lengths), 777_777):
        check(eager, traced, lambda size=size: operands(size))
    assert _core.counter("fused_sums") > before + len(lengths)
    # elements left to NumPy are found again in shorter blocks
    for place in (0, 5000, 60_001, 99_999):

        def make(place: int = place) -> list[Any]:
            made = operands(100_000)
            made[0][place] = 1000.0
            made[1][place // 2] = np.nan
            return made

        for errstate in ({"all": "ignore"}, {"all": "warn"}, {"all": "raise"}):
            check(eager, traced, make, errstate)
