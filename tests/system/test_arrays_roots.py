"""Square roots in loops of our own, without the instruction for them: the correctly rounded ones, for all numbers, with
the flags that NumPy raises."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from math import isqrt
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, HAS_VECTORS
from chains_support import both, check
from tagalong import _core

RANDOM = np.random.default_rng(29)
WARM_UP = 4
pytestmark = pytest.mark.skipif(not HAS_VECTORS, reason="operations are not joined on this machine")


@pytest.fixture(autouse=True, params=[0, 2], ids=["instruction", "steps"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Most tests have blocks that are long enough for the steps."""
    _core.set_option("regions", 2)
    _core.set_option("retire_after", 0)
    _core.set_option("quick_roots", request.param)
    before = _core._rooted_blocks()
    yield
    assert (_core._rooted_blocks() > before) == (request.param == 2)


def square_roots_modulo(square: int, bits: int) -> set[int]:
    root = 1
    for bit in range(3, bits):
        root += ((root * root - square) >> bit & 1) << (bit - 1)
    modulus = 1 << bits
    return {value % modulus for value in (root, -root, root + modulus // 2, modulus // 2 - root)}


def near_middles(most: int) -> Iterator[float]:
    """Numbers from 1 to 4 whose roots are closest to the middle between two doubles."""
    for bits in (54, 55):
        for square in range(1 - 8 * ((most + 1) // 8), most + 1, 8):
            for middle in square_roots_modulo(square % (1 << bits), bits):
                x = (middle * middle - square) >> bits
                if 1 << 53 <= middle < 1 << 54 and 1 << 52 <= x < 1 << 53:
                    assert abs((middle * middle) - (x << bits)) <= most
                    yield float(x) * 2.0 ** (bits - 106)


def traced_root() -> tuple[Any, Any]:
    eager, traced = both("def f(x, y):\n    return np.sqrt(x * y) - 0.0")
    for _ in range(WARM_UP):
        traced(np.ones(2000), np.ones(2000))
    return eager, traced


def test_near_the_middle_between_two_doubles() -> None:
    found = np.array(list(near_middles(4000)))
    assert found.size > 1000
    _, traced = traced_root()
    for exponent, shift in itertools.product((-896, -450, -2, 0, 2, 450, 1020), (0, 8, 16)):
        x = np.roll(found, shift) * 2.0**exponent  # of three vectors the last one is done otherwise
        roots = traced(x, np.ones_like(x))
        assert roots.tobytes() == np.sqrt(x).tobytes()
    for x, root in zip(found.tolist(), traced(found, np.ones_like(found)).tolist(), strict=True):
        # In units of 2**-53, half of those in which the root stands: the exact root is never a middle.
        exact = isqrt(int(x * 2.0**52) << 54)
        assert int(root * 2.0**53) == 2 * ((exact + 1) // 2)


@pytest.mark.parametrize(
    "kind", ["from 1 to 4", "all exponents", "small", "squares", "neighbours of squares", "specials"]
)
def test_many_numbers(kind: str) -> None:
    size = 200_000
    if kind == "from 1 to 4":
        x = RANDOM.uniform(1.0, 4.0, size)
    elif kind == "all exponents":
        x = RANDOM.integers(0, 0x7FF0 << 48, size).astype(np.uint64).view(np.float64)
    elif kind == "small":
        x = RANDOM.uniform(0.0, 1.0, size) * 2.0 ** RANDOM.integers(-1074, -880, size)
    elif kind == "squares":
        x = RANDOM.integers(0, 1 << 26, size).astype(np.float64) ** 2
    elif kind == "neighbours of squares":
        root = RANDOM.uniform(1.0, 2.0, size)
        x = np.nextafter(root * root, RANDOM.choice([0.0, 9.0], size=size))
    else:
        x = RANDOM.uniform(1.0, 4.0, size)
        x[RANDOM.integers(0, size, 3000)] = RANDOM.choice(
            [0.0, -0.0, np.inf, 5e-324, 1e-300, 2.2e-308], size=3000
        )
    # Rounds are of three vectors of eight.
    lengths = (1, 7, 8, 31, 32, 33, 40, 47, 48, 49, 56, 63, 64, 72, 73, 1000, 1024, 5000, size)
    eager, traced = traced_root()
    before = tagalong.stats(traced).hits
    for length in lengths:
        part = x[:length].copy()
        assert traced(part, np.ones(length)).tobytes() == eager(part, np.ones(length)).tobytes(), length
    assert tagalong.stats(traced).hits == before + len(lengths)


PROGRAMS = {
    "one": "return np.sqrt(x * y) - 0.0",
    "two": "return np.sqrt(x) * np.sqrt(y + x)",
    "with quotients": "return np.sqrt(x / 3.0) / 7.0 - np.sqrt(y) / 3.0",
    "compared": "return np.where(np.sqrt(x * 1.0) > y, x, np.sqrt(y * y))",
    "summed": "return np.sum(np.sqrt(x * y))",
    "beside a number": "return np.sqrt(x * 2.0) * 3.0 + np.sqrt(y)",
    "with a function": "return np.exp(-np.sqrt(x * x)) + y",
    "in rows": "return np.sqrt(x.reshape(-1, 2)[:, :1] * y.reshape(-1, 2)) + 1.0",
    "many": "return " + " + ".join(f"np.sqrt(x * {i}.0 + y)" for i in range(12)),
}


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("state", ERRSTATES, ids=str)
def test_programs_and_reports(what: str, state: dict[str, Any]) -> None:
    eager, traced = both(f"def f(x, y):\n    {PROGRAMS[what]}")
    for special in (None, 0.0, -1.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308):
        for size in (20, 40, 2000, 9000):
            x, y = np.linspace(0.25, 1.5, size), np.linspace(2.0, 1.0, size)
            if special is not None:
                x[size // 2] = special
                y[-1] = special
            for _ in range(2):
                check(eager, traced, lambda x=x, y=y: [x.copy(), y.copy()], state)


@pytest.mark.parametrize(
    ("special", "added"), [(0.0, 1.0), (-1.0, 1.0), (np.inf, -np.inf), (np.nan, -np.nan), (5e-324, 0.0)]
)
def test_one_number_at_each_place_of_a_round(special: float, added: float) -> None:
    """What is looked at of two vectors together, or of one alone, or is left to the instruction."""
    size = 24 + 24 + 8 + 3
    eager, traced = both("def f(x, y):\n    return np.sqrt(x) + y")
    for _ in range(WARM_UP):
        traced(np.ones(2000), np.ones(2000))
    before = tagalong.stats(traced).hits
    for place in range(size):
        x, y = np.linspace(1.0, 2.0, size), np.ones(size)
        x[place], y[place] = special, added
        check(eager, traced, lambda x=x, y=y: [x.copy(), y.copy()], {"all": "warn"})
    assert tagalong.stats(traced).hits >= before + size


def test_other_roundings() -> None:
    """The instruction rounds as the processor is told to."""
    libm = ctypes.CDLL("libm.so.6")
    eager, traced = traced_root()
    x = RANDOM.uniform(1.0, 4.0, 3000)
    ones = np.ones_like(x)
    for mode in (0x400, 0x800, 0xC00):  # down, up, towards zero
        try:
            assert libm.fesetround(mode) == 0
            expected, roots = np.sqrt(x).tobytes(), traced(x, ones).tobytes()
        finally:
            libm.fesetround(0)
        assert roots == expected
    assert traced(x, ones).tobytes() == eager(x, ones).tobytes()
