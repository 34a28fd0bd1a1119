"""Machine code for fused operations, for vectors of eight doubles and of four, and without code: eager's bytes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, misaligned
from chains_support import both, check, compare_program, groups_run
from tagalong import _core

RANDOM = np.random.default_rng(44)
WARM_UP = 3


@pytest.fixture(autouse=True)
def uses_vectors(lanes: int) -> Iterator[None]:
    before = _core.counter("code_made") + _core.counter("code_found")
    yield
    assert (_core.counter("code_made") + _core.counter("code_found") > before) == (lanes > 0)


SPECIAL = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 5e-324, -2e-310, 1.7e308, -1.0, 1.0])
SIZES = [*range(1, 27), 31, 32, 33, 63, 65, 127, 129, 1000, 1023, 1025, 4099]
OPERATIONS = {
    "arithmetic": "return (x + y - z) * y / (z + 3.0) - x / 7.0",
    "roots": "return np.sqrt(np.abs(x * y) + 0.5) + np.square(z) - np.reciprocal(y + 9.0)",
    "signs": "return np.negative(x) * np.sign(y * 1.0) + np.absolute(z - 1.0) - np.fabs(x * y)",
    "extremes": "return np.maximum(x * 1.0, y) - np.minimum(z + 0.0, x)",
    "clipped": "return np.clip(x * 2.0, -1.0, 1.5) + y",
    "comparisons": "a = x + 0.0\n    return a < y, a <= y, a == y, a != y, a > y, a >= y",
    "bools": "a, b = x < y + 0.0, y * 1.0 >= z\n    return a & b, a | ~b, np.logical_not(a), a & (b | (z == x))",
    "bools read": "return np.where(m, x * y, z - 1.0), m & (x * 1.0 < y), ~m | (z + 0.0 > x)",
    "choices": "return np.where((x < y) & ~(z - 1.0 > y), x * 2.0, np.where(y > 0.5, z, -x)) + 1.0",
    "several": "a = x * y\n    b = a - z\n    return a, b, a * b, np.sqrt(np.abs(b)) < a",
    "many": "b = x * y\n"
    + "".join(f"    c{k} = b * {k}.5 + y * {k}.25\n" for k in range(14))
    + "    return c0, c1, c2, c3, c4, c5, b - c0 * c1 + c2 * c3 - c4 * c5 + c6 * c7 - c8 + c9 * c10 - c11 + c12 * c13",
    "numbers": "return (" + " + ".join(f"(x * {k}.5 - y / {k + 3}.0)" for k in range(20)) + ") * z",
    "sum": "a = x * y - z\n    return a.sum(), (a * a).mean()",
    "sum and result": "a = x * y + 1.0\n    return a.sum(), a - z, a < z",
    "sum of much": "a = np.sqrt(x * x + y * y + 0.25) * 3.5 - z * 1.5 + x / 3.0 - y * z * 2.5\n"
    "    b = np.maximum(a * 1.25, x) - np.minimum(a, z) + np.where(a < y, a * 4.5, z - 0.125)\n"
    "    return b.sum()",
    "what is there": "w[:] = x * y - 1.0\n    w += z * 2.0\n    return (x - y) * 2.0 + x",
}


def operands(size: int, *, special: bool = False) -> list[np.ndarray]:
    made = [RANDOM.uniform(-2.0, 2.0, size) for _ in range(4)]
    if special:
        for array in made[:3]:
            places = RANDOM.integers(0, size, max(1, size // 7))
            array[places] = RANDOM.choice(SPECIAL, places.size)
            array[RANDOM.integers(0, size)] = made[0][RANDOM.integers(0, size)]
        made[1][:: max(1, size // 3)] = made[0][:: max(1, size // 3)]  # equal elements
    return [*made, RANDOM.integers(0, 2, size).astype(bool)]


def traced_program(name: str) -> tuple[Any, Any]:
    eager, traced = both(f"def f(x, y, z, w, m):\n    {OPERATIONS[name]}\n")
    for _ in range(WARM_UP):
        traced(*operands(40))
    return eager, traced


def same_each_time(made: list[np.ndarray]) -> Any:
    return lambda: [array.copy("K") for array in made]


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    eager, traced = traced_program(name)
    for size in SIZES:
        ran = groups_run()
        check(eager, traced, same_each_time(operands(size)))
        assert groups_run() > ran, tagalong.explain(traced)
    for size in (1, 3, 4, 7, 8, 10, 17, 40, 130, 1025):
        for errstate in ERRSTATES:
            check(eager, traced, same_each_time(operands(size, special=True)), errstate)


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_special_number_in_each_lane(name: str) -> None:
    """Also where equal numbers meet: zeros of both signs, NaNs from either operand."""
    eager, traced = traced_program(name)
    for place in range(11):
        for one in SPECIAL:
            for other in (one, -one, 0.5):
                made = operands(11)
                made[0][place], made[1][place] = one, other
                check(eager, traced, same_each_time(made), {"all": "ignore"})


@pytest.mark.parametrize("name", ["arithmetic", "bools read", "sum and result", "what is there"])
def test_layouts(name: str) -> None:
    eager, traced = traced_program(name)
    for size in (9, 30, 1001):
        for change in (misaligned, lambda a: np.repeat(a, 2)[::2], lambda a: a[::-1]):
            made = operands(size)
            made[0], made[2] = change(made[0]), change(made[2])
            check(eager, traced, lambda made=made: [made[0], made[1], made[2], made[3].copy(), made[4]])
    # Bools that NumPy has not made: any byte other than zero is true.
    for size in (5, 12, 100):
        made = operands(size)
        made[4] = RANDOM.choice(np.array([0, 1, 2, 128, 255], np.uint8), size).view(bool)
        check(eager, traced, same_each_time(made))


def test_random_programs() -> None:
    random = Random("lanes")
    for number in range(30):
        compare_program(random, 8, loops=number % 3 == 0)
