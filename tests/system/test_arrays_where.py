"""np.where in fusion groups: the dtype of the result, and operands that are cast to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import NUMPY_2
from chains_support import both, check, groups_run

WARM_UP = 4
CODES = "?bBhHiIlLqQefdFD"
NUMBERS: list[Any] = [True, 0, 3, -7, 200, 70_000, 2**40, 2**63, 1.5, 1e-300, 1e300, float("nan"), 2 - 1j]
SCALARS: list[Any] = [
    np.bool_(True),
    np.int8(-3),
    np.uint64(2**63),
    np.float32(0.1),
    np.float64(0.1),
    np.complex64(1j),
]


def arrays(code: str) -> list[np.ndarray]:
    values = np.arange(40) % 3
    return [values.astype(code), (values * 2).astype(code).reshape(5, 8), np.array(2).astype(code)]


def compared(source: str, *operands: Any) -> None:
    eager, traced = both(f"def f(c, x, y):\n    return {source}\n")
    before = groups_run()
    for _ in range(WARM_UP):
        check(
            eager,
            traced,
            lambda: [operand.copy() if hasattr(operand, "copy") else operand for operand in operands],
        )
    assert tagalong.stats(traced).hits > 0
    assert groups_run() >= before


@pytest.mark.parametrize("one", CODES)
@pytest.mark.parametrize("other", CODES)
def test_arrays_of_two_dtypes(one: str, other: str) -> None:
    for x, y in zip(arrays(one), arrays(other), strict=True):
        compared("np.where(c > 0.5, x, y)", np.linspace(0, 1, x.size).reshape(x.shape), x, y)
        compared("np.where(~(c > 0.5), y, x)", np.linspace(0, 1, x.size).reshape(x.shape), x, y)


@pytest.mark.parametrize("code", CODES)
def test_an_array_and_a_number(code: str) -> None:
    for x in arrays(code):
        for number in NUMBERS + SCALARS:
            compared("np.where(c > 0.5, x, y)", np.linspace(0, 1, x.size).reshape(x.shape), x, number)
            compared("np.where(c > 0.5, y, x)", np.linspace(0, 1, x.size).reshape(x.shape), x, number)


@pytest.mark.parametrize("one", range(len(NUMBERS + SCALARS)))
def test_two_numbers(one: int) -> None:
    for other in NUMBERS + SCALARS:
        for shape in ((40,), (5, 8)):
            c = np.linspace(0, 1, 40).reshape(shape)
            compared("np.where(c > 0.5, x, y)", c, (NUMBERS + SCALARS)[one], other)
            compared("np.where(c.T > 0.5, x, y)", c, (NUMBERS + SCALARS)[one], other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1.5, 0.0), (1, 0), (True, False), (2, 0.5), (1j, 1)]
    + (
        [(np.float32(1), 0.5), (np.ones(64, "f4"), np.ones(64)), (np.ones(64), 1), (np.ones(64, "i4"), 0.5)]
        * NUMPY_2
    ),
)
def test_runs_as_a_group(one: Any, other: Any) -> None:
    """A comparison and the choice are one group."""
    eager, traced = both("def f(c, x, y):\n    return np.where(c > 0.5, x, y)\n")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.linspace(0, 1, 64), one, other])
    before = groups_run()
    check(eager, traced, lambda: [np.linspace(0, 1, 64), one, other])
    assert groups_run() > before, tagalong.explain(traced)
