"""Sums and extremes of doubles by our own reduction loops: the bits of NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_VECTORS, described
from tagalong import _core

RANDOM = np.random.default_rng(11)
SIZES = (*range(1, 34), *range(120, 145), *range(248, 274), 300, 1000, 1023, 1024, 1025, 2049, 5000, 40_001)
WARM_UP = 8
ROW = RANDOM.normal(size=37)


def total(x):
    return np.sum(x)


def largest(x):
    return np.max(x)


def smallest(x):
    return x.min()


def middle(x):
    return x.mean()


def total_of_squares(x):
    return (x * x + 1.0).sum()


def largest_of_many(x):
    y = x * 0.5 - 1.0
    return np.max(y), y


def total_and_all(x):
    y = x * x - 0.5
    z = np.sqrt(y * y) + x
    return z.sum(), y, z.max()


def middle_after_numpys(x):
    return (np.floor(x) * 0.5 + x).mean()


def of_rows(x):
    return (x[:, None] * ROW).sum(axis=1)


PROGRAMS = (
    total,
    largest,
    smallest,
    middle,
    total_of_squares,
    largest_of_many,
    of_rows,
    total_and_all,
    middle_after_numpys,
)
JOINED = (total_of_squares, total_and_all, middle_after_numpys)


def values(kind: str, size: int) -> np.ndarray:
    x = RANDOM.normal(size=size) * 10.0 ** RANDOM.integers(-12, 12, size=size)
    if kind == "zeros":
        x = RANDOM.choice([0.0, -0.0], size=size)
    elif kind == "negative zeros":
        x = np.full(size, -0.0)
    elif kind == "equal":
        x = RANDOM.choice([2.0, 2.0, -3.0, 0.0, -0.0], size=size)
    elif kind == "one NaN":
        x[RANDOM.integers(size)] = -np.nan
    elif kind == "infinite":
        x[RANDOM.integers(size)] = np.inf
        x[RANDOM.integers(size)] = -np.inf
    elif kind == "huge":
        x = RANDOM.choice([1e308, -1e308, 1.0], size=size)
    elif kind == "subnormal":
        x *= 1e-310
    return x


KINDS = ("ordinary", "zeros", "negative zeros", "equal", "one NaN", "infinite", "huge", "subnormal")


def said(function: Callable[[Any], Any], x: np.ndarray) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(x)
    parts = result if isinstance(result, tuple) else (result,)
    return [described(part) for part in parts], [str(warning.message) for warning in caught]


@pytest.fixture(autouse=True)
def fusion() -> None:
    _core.set_option("fusion", 2)
    _core.set_option("retire_after", 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_bits(program: Callable[[Any], Any], kind: str) -> None:
    traced = tagalong.trace(FunctionType(program.__code__.replace(), program.__globals__, "f"))
    for _ in range(WARM_UP):
        traced(values("ordinary", 100))
    before, fused = _core.counter("own_reductions"), _core.counter("fused_sums")
    for size in SIZES:
        x = values(kind, size)
        assert said(traced, x) == said(program, x), size
    if HAS_VECTORS:
        # A fusion group that refused its operands is not retried for a while.
        least = len(SIZES) - 1 if kind == "ordinary" else 1
        if program in JOINED:
            assert kind not in ("ordinary", "zeros") or _core.counter("fused_sums") - fused >= least
        else:
            assert _core.counter("own_reductions") - before >= least
    for size in SIZES:
        x = values(kind, 2 * size)[::2]
        assert said(traced, x) == said(program, x), size


FAR = 1 << 17  # number of elements from which memory is prefetched


@pytest.mark.parametrize("size", [FAR - 1, FAR, FAR + 1, FAR + 32, FAR + 255, FAR + 257, 2 * FAR + 1000])
@pytest.mark.parametrize("program", [largest, smallest], ids=lambda program: program.__name__)
def test_extremes_of_large_arrays(program: Callable[[Any], Any], size: int) -> None:
    """At each position of the extreme, also behind the last prefetched element."""
    _core.set_option("fusion", 2)
    _core.set_option("threads", 1)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), globals()))
    x = RANDOM.normal(size=size)
    for _ in range(WARM_UP):
        traced(x)
    before = _core.counter("groups_run")
    for place in (0, 1, 31, 32, size // 2, size - 300, size - 256, size - 33, size - 32, size - 8, size - 1):
        y = x.copy()
        y[place] = 100.0 if program is largest else -100.0
        assert described(traced(y)) == described(program(y)), place
    assert _core.counter("groups_run") >= before + 11
    y[size // 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert described(traced(y)) == described(program(y))
