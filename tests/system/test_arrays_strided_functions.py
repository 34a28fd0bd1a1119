"""Functions whose loops use other algorithms for strided operands, behind operations on parts of arrays.

Eager execution gives them contiguous results there, so the bits are those of contiguous operands.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tagalong
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

WARM_UP = 4
FUNCTIONS = {
    "hypot": "np.hypot(v, w)",
    "arctan2": "np.arctan2(w, v) * 2.0",
    "tanh of a sum": "np.tanh(v + w)",
    "sines": "np.sin(v) + np.cos(w)",
    "exp": "np.exp(v * 0.1) - np.log(abs(w) + 1.0)",
    "power": "np.power(abs(v) + 0.5, w * 0.1)",
    "fmod": "np.fmod(v, abs(w) + 0.25) + v",
    "floor_divide": "v // (abs(w) + 0.25) + v % (abs(w) + 0.25)",
    "maximum": "np.maximum(np.hypot(v, 2.0), np.arctan2(1.0, w))",
    "into a result": "np.hypot(v, w, out=v) + w",
    "of integers": "np.hypot((v * 8).astype(int), (w * 8).astype(int) + 1)",
    "of integers and floats": "np.arctan2((v * 8).astype(np.int32), w) + v",
    "of an operand": "np.hypot(x, v) if x.shape == v.shape else np.arctan2(v, 1.0)",
    "of a part": "np.hypot(x[1:, 1:], y[:-1, :-1]) * (x[1:, 1:] + y[1:, 1:])",
    "of contiguous parts": "np.arctan2(x[1:], y[1:]) * (x[:-1] + y[1:])",
}
PARTS = {
    "inner": ("x[1:-1, 2:] - y[1:-1, :-2]", "x[2:, 1:-1] - y[:-2, 1:-1] * 2.0"),
    "one order and the other": ("x.T[1:] - y.T[1:] * 0.5", "(x[:, 1:] + y[:, 1:] * 2.0).T"),
    "columns": ("x[:, ::2] * 2.0 - y[:, ::2]", "x[:, 1::2] + y[:, 1::2] * 3.0"),
    "reversed": ("x[::-1] * 2.0 - y", "x[:, ::-1] + y * 3.0"),
    "with a row": ("x - y[0]", "x * y[:1] + y[0]"),
    "rolled": ("np.roll(x, 1, 0) - y", "np.roll(x, -1, 1) + y * 0.5"),
}


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()
    _core.set_option("retire_after", 0)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS.keys())
def test_behind_parts(parts: tuple[str, str], function: str, dtype: str) -> None:
    random = np.random.default_rng(45)
    first, second = parts
    source = f"def f(x, y):\n    v = {first}\n    w = {second}\n    return {function}\n"
    eager, traced = both(source)
    orders = ("C", "F")
    for shape, x_order, y_order in itertools.product(((6, 8), (34, 34), (40, 120)), orders, orders):
        x, y = (
            np.asarray(random.uniform(-3, 3, shape).astype(dtype), order=order)
            for order in (x_order, y_order)
        )
        for _ in range(WARM_UP):
            check(eager, traced, lambda x=x, y=y: [x.copy("K"), y.copy("K")])
    assert groups_run() > 0, tagalong.explain(traced)


def test_a_chain_is_fused_although_its_end_follows_strides() -> None:
    _, traced = both(
        "def f(g):\n    v = (g[:-2, 2:] + 2 * g[1:-1, 2:]) - g[2:, 2:]\n    w = g[2:, :-2] - g[:-2, 1:-1]\n"
        "    return np.hypot(v, w)\n"
    )
    grid = np.random.default_rng(1).uniform(size=(30, 50))
    for _ in range(WARM_UP):
        traced(grid)
    before = groups_run()
    traced(grid)
    assert groups_run() == before + 1
    assert "5 array operations as one" in tagalong.explain(traced), tagalong.explain(traced)


def test_one_reversed_complex_number() -> None:
    """NumPy rounds the product of single complex64 numbers in another way where a stride is negative."""
    programs: list[Any] = [
        both(f"def f(a, b):\n    return {text}\n")
        for text in ("a * b + a", "(a + b) * b", "np.square(a) - 1", "a * a.conj() + b", "(a / b) * b")
    ]
    random = np.random.default_rng(46)
    for dtype, (eager, traced) in itertools.product(("complex64", "complex128"), programs):
        for _ in range(40):
            a, b = ((random.normal(size=2) + 1j * random.normal(size=2)).astype(dtype) for _ in range(2))
            check(eager, traced, lambda a=a, b=b: [a[:0:-1], b[:1]])
            check(eager, traced, lambda a=a, b=b: [a[:1], b[:0:-1]])
            check(eager, traced, lambda a=a, b=b: [a[::-1], b])
