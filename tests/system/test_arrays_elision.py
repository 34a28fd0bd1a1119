"""Temporary elision outside of the kernels: NumPy computes into large operands that nobody else holds, which shows in
strides, in the dtype and, for some numbers, in bits; for dtypes that the kernels leave to the general functions, and
inside C functions that apply operators.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
from typing import Any

import numpy as np
import pytest

import tagalong
from chains_support import both, check

SIDE = 260  # squared and times four bytes, eager computes into it


class Float(float):
    """A number that only the general functions take."""


def seen(code: str, layout: int, *, swapped: bool) -> np.ndarray:
    with np.errstate(over="ignore"):
        array = np.arange(SIDE * SIDE).reshape(SIDE, SIDE).astype(code)
    if swapped:
        array = array.astype(array.dtype.newbyteorder())
    return (array, array.T, np.asfortranarray(array)[::-1])[layout]


def compare(source: str, code: str) -> None:
    names = {"operator": operator, "functools": functools, "math": math, "Float": Float}
    eager, traced = both(f"def f(x, y, w):\n    return {source}\n", **names)
    for one, other in itertools.product(range(3), repeat=2):

        def make(one: int = one, other: int = other) -> list[Any]:
            return [
                seen(code, one, swapped=False),
                seen(code, other, swapped=False),
                seen(code, other, swapped=True),
            ]

        for _ in range(3):
            check(eager, traced, make, {"all": "ignore"})
    assert tagalong.stats(traced).hits > 0


@pytest.mark.parametrize("code", "dfDelQ")
@pytest.mark.parametrize(
    "source",
    [
        "(x * 2) + w",
        "w + (x * 2)",
        "x.astype(x.dtype.newbyteorder()) + x",
        "x.astype(x.dtype.newbyteorder()) * 2",
        "np.positive(w * w) * 2 + y",
        "(x * 2) - w",
        "(w - 1) * y",
        "w.copy() / 2",
        "-(w.T + 0) + x",
        "(x * 2) + w[:, ::-1]",
        "-w.copy()",
        "abs(w.copy())",
        "w.copy() ** 2",
        "(x * 2) + Float(3)",
    ],
)
def test_arrays_of_another_byte_order(source: str, code: str) -> None:
    compare(source, code)


@pytest.mark.parametrize("code", "dDl")
@pytest.mark.parametrize(
    "source",
    [
        "abs(x - y)",
        "pow(w.copy(), 2)",
        "operator.add(x * 2, y)",
        "operator.add(y, x * 2)",
        "operator.add(x, y)",
        "operator.neg(w.copy())",
        "[v := x * 2, operator.add(v, y), v]",
        "sum([x * 2, w, y])",
        "sum((y * 1, x))",
        "sum([x, y], w)",
        "sum([x * 2, w, y], start=0)",
        "sum([x, y], start=w)",
        "sum((k * 1 for k in [x, w, y]), start=0)",
        "math.prod([x, w, y], start=1)",
        "sum(k for k in [x, w, y])",
        "functools.reduce(operator.mul, [x, y, x * 2])",
        "functools.reduce(lambda p, q: p + q, [w, y, x * 2])",
        "math.prod([x, w.copy(), y])",
    ],
)
def test_c_functions_that_apply_operators(source: str, code: str) -> None:
    compare(source if not source.startswith("[") else f"tuple({source})", code)


def test_their_frames_are_seen_by_nobody() -> None:
    looks: list[Any] = []

    def look(left: Any, right: Any) -> Any:
        frame = sys._getframe(1)
        looks.append((frame.f_code.co_name, frame.f_lineno, right))
        if right is None:
            raise ValueError("none")
        return left + right

    def f(first: Any, last: Any) -> Any:
        return functools.reduce(look, [first * 2, first, last])

    traced = tagalong.trace(f)
    x = np.ones((SIDE, SIDE))
    for _ in range(4):
        np.testing.assert_array_equal(traced(x, x), x * 4)
    assert len({look[:2] for look in looks}) == 1
    assert looks[0][0] == "f"
    for _ in range(3):
        with pytest.raises(ValueError, match="none") as caught:
            traced(x, None)
        assert [entry.name for entry in caught.traceback][-2:] == ["f", "look"]
    assert tagalong.stats(traced).hits > 0
