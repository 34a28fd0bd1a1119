"""`np.bincount` in a recorded function: counts and sums with the bits of NumPy's own code.

This holds for all dtypes of labels and all ways to give the arguments; unsupported or raising calls are left to NumPy.
"""

from __future__ import annotations

import ctypes
import platform
import random
import sys
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import NUMPY_2, misaligned
from chains_support import Function, both, check
from tagalong import _core

WARM_UP = 3
SIZES = (1, 2, 7, 8, 9, 255, 256, 2039, 2040, 2041, 5000, 20_000)
BINS = (1, 2, 8, 9, 16, 17, 32, 33, 256, 257, 1000)
LABELS = "?bBhHiIlq"


def traced_and_warm(source: str, make: Any) -> tuple[Function, Function]:
    # Array operations look NumPy up.
    eager, traced = both(f"def f(labels, weights):\n    np.negative(weights)\n    return {source}")
    assert isinstance(traced, FunctionType)
    for _ in range(WARM_UP):
        check(eager, traced, make)
    return eager, traced


def counted(eager: Function, traced: Function, make: Any) -> tuple[int, int]:
    """How many calls, in one call of the function, tagalong has computed and has left to NumPy."""
    before = (_core.counter("histograms_computed"), _core.counter("histograms_left"))
    hits = tagalong.stats(traced).hits
    check(eager, traced, make)
    assert tagalong.stats(traced).hits == hits + 1
    after = (_core.counter("histograms_computed"), _core.counter("histograms_left"))
    return after[0] - before[0], after[1] - before[1]


def labels_of(code: str, size: int, bins: int) -> np.ndarray:
    numbers = np.random.default_rng(size * 1009 + bins)
    most = 2 if code == "?" else min(bins, np.iinfo(code).max)
    return numbers.integers(0, most, size).astype(code)


CALLS = (
    "np.bincount(labels)",
    "np.bincount(labels, weights)",
    "np.bincount(labels, None, 5)",
    "np.bincount(labels, weights, 40)",
    "np.bincount(labels, weights=weights)",
    "np.bincount(labels, minlength=12)",
    "np.bincount(labels, minlength=12, weights=weights)",
    "np.bincount(labels, weights, minlength=0)",
)


@pytest.mark.parametrize("source", CALLS)
def test_all_ways_to_call_it(source: str) -> None:
    eager, traced = traced_and_warm(source, lambda: [labels_of("l", 100, 8), np.linspace(-1.0, 3.0, 100)])
    for size in SIZES:
        for bins in BINS:
            weights = np.random.default_rng(size).normal(size=size) * 10.0 ** (bins % 7)
            assert counted(eager, traced, lambda: [labels_of("l", size, bins), weights]) == (1, 0)  # noqa: B023


@pytest.mark.parametrize("code", LABELS)
def test_labels_of_all_dtypes(code: str) -> None:
    for source in (CALLS[0], CALLS[1]):
        eager, traced = traced_and_warm(source, lambda: [labels_of(code, 10, 3), np.ones(10)])
        for size in (3, 300, 5000):
            for bins in (2, 8, 100, 1000):
                weights = np.random.default_rng(bins).uniform(-1.0, 1.0, size)
                make = lambda: [labels_of(code, size, bins), weights]  # noqa: B023, E731
                assert counted(eager, traced, make) == (1, 0)


def test_sums_are_added_in_order() -> None:
    """Any other order would give other values."""
    eager, traced = traced_and_warm(CALLS[1], lambda: [labels_of("l", 10, 3), np.ones(10)])
    for size in (100, 10_000):
        scale = 10.0 ** np.random.default_rng(size).uniform(-18, 18, size)
        for bins in (1, 2, 8, 64):
            assert counted(eager, traced, lambda: [labels_of("l", size, bins), scale]) == (1, 0)  # noqa: B023


@pytest.mark.parametrize("value", [np.inf, -np.inf, -0.0, 5e-324, 1.7e308])
def test_special_weights(value: float) -> None:
    eager, traced = traced_and_warm(CALLS[1], lambda: [labels_of("l", 10, 3), np.ones(10)])
    weights = np.full(1000, value)
    assert counted(eager, traced, lambda: [labels_of("l", 1000, 8), weights]) == (1, 0)


def of_what_is_summed() -> tuple[np.ndarray, list[np.ndarray]]:
    """Sums with difficult roundings.

    They round to zeros of either sign, are rounded, or are denormal on the way or at the end though no summand is: ten
    consecutive elements are in one bin.
    """
    numbers = np.random.default_rng(5)
    denormal = numbers.integers(-9, 9, 600) * 5e-324
    cancelling = np.tile([1.0, -1.0, 0.0, -0.0, 0.0], 120)
    nearly_cancelling = np.tile([2.3e-308, -2.25e-308], 300)
    return np.arange(600) // 10 % 7, [cancelling, numbers.normal(size=600) / 3.0, denormal, nearly_cancelling]


LIBM = ctypes.CDLL("libm.so.6")
# Floating point control words of glibc on x86; the last number is the one for vectors.
ENVIRONMENT = ctypes.c_uint32 * 8


@pytest.mark.parametrize("bits", [0x2000, 0x4000, 0x6000, 0x8000, 0x40, 0x8040])
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the bits are those of such a processor")
def test_other_roundings_and_denormals(bits: int) -> None:
    """Rounding down, up, and towards zero; flushing results, reading denormal operands as zeros, both."""
    eager, traced = traced_and_warm(CALLS[1], lambda: [labels_of("l", 10, 3), np.ones(10)])
    labels, several = of_what_is_summed()
    ordinary, other = ENVIRONMENT(), ENVIRONMENT()
    LIBM.fegetenv(ordinary)
    for least in (0, 8):
        for weights in several:
            own = labels + least
            LIBM.fegetenv(other)
            other[7] |= bits
            before = _core.counter("histograms_computed")
            try:
                LIBM.fesetenv(other)
                expected, found = eager(own, weights), traced(own, weights)
            finally:
                LIBM.fesetenv(ordinary)
            assert found.tobytes() == expected.tobytes()
            assert _core.counter("histograms_computed") == before + 1


def test_nans_are_numpys() -> None:
    eager, traced = traced_and_warm(CALLS[1], lambda: [labels_of("l", 10, 3), np.ones(10)])
    payloads = (np.arange(1000, dtype=np.uint64) + np.uint64(0x7FF8000000000000)).view(float)
    payloads[::3] *= -1.0
    computed, left = counted(eager, traced, lambda: [labels_of("l", 1000, 8), payloads])
    assert computed == 0 < left
    infinities = np.where(np.arange(1000) % 2 == 0, np.inf, -np.inf)
    computed, left = counted(eager, traced, lambda: [labels_of("l", 1000, 8), infinities])
    assert computed == 0 < left


OTHERS: list[tuple[str, Any, Any]] = [
    ("negative", np.array([1, -1, 2]), np.ones(3)),
    ("a negative byte", np.array([1, -1, 2], np.int8), np.ones(3)),
    ("the smallest", np.array([np.iinfo(np.int64).min]), np.ones(1)),
    ("empty", np.array([], np.int64), np.array([])),
    ("floats", np.array([1.0, 2.0]), np.ones(2)),
    ("unsigned 64", np.array([1, 2], np.uint64), np.ones(2)),
    ("two axes", np.array([[1, 2]]), np.ones(2)),
    ("no axes", np.array(3), np.ones(1)),
    ("too few weights", np.array([1, 2, 3]), np.ones(2)),
    ("weights of integers", np.array([1, 2, 3]), np.arange(3)),
    ("weights of floats", np.array([1, 2, 3]), np.ones(3, np.float32)),
    ("complex weights", np.array([1, 2, 3]), np.ones(3, np.complex128)),
    ("every other label", np.arange(10)[::2], np.ones(5)),
    ("every other weight", np.arange(5), np.ones(10)[::2]),
    ("backwards", np.arange(5)[::-1], np.arange(5.0)),
    ("swapped bytes", np.arange(5).astype(">i8"), np.arange(5.0)),
    ("misaligned labels", misaligned(np.arange(5)), np.arange(5.0)),
    ("misaligned weights", np.arange(5), misaligned(np.arange(5.0))),
    ("a subclass", np.arange(5).view(np.ma.MaskedArray), np.arange(5.0)),
    ("many bins", np.array([100_000, 3]), np.arange(2.0)),
    ("too many bins", np.array([1 << 62]), np.arange(1.0)),
    ("a list", [1, 2, 2], np.ones(3)),
]


@pytest.mark.parametrize("source", [CALLS[1], CALLS[6]])
@pytest.mark.parametrize(
    ("labels", "weights"), [case[1:] for case in OTHERS], ids=[case[0] for case in OTHERS]
)
def test_other_calls_are_left_to_numpy(source: str, labels: Any, weights: Any) -> None:
    eager, traced = traced_and_warm(source, lambda: [np.array([1, 2, 2]), np.ones(3)])
    for _ in range(2):
        before = _core.counter("histograms_computed")
        check(eager, traced, lambda: [labels, weights])
        assert _core.counter("histograms_computed") == before
    assert counted(eager, traced, lambda: [np.array([1, 2, 2]), np.ones(3)]) == (1, 0)


@pytest.mark.parametrize(
    "least", ["-1", "None", "2.0", "True", "np.int64(4)", "1 << 70", "1 << 40", "'a'", "70000"]
)
def test_other_minlengths(least: str) -> None:
    source = f"np.bincount(labels, weights, {least})"
    eager, traced = both(f"def f(labels, weights):\n    np.negative(weights)\n    return {source}")
    for _ in range(4):
        check(eager, traced, lambda: [np.array([1, 2, 2]), np.ones(3)])


@pytest.mark.parametrize(
    "arguments",
    [
        "labels, weights, weights=weights",
        "labels, None, weights=weights",
        "labels, weights, 5, minlength=5",
        "labels, None, 5, minlength=5",
        "labels, x=labels",
        "labels, labels=labels",
        "labels, weights, 5, 5",
        "labels, None, least=5",
        "x=labels, weights=weights, minlength=5",
    ],
)
def test_other_ways_to_call_it_once_it_is_another_function(arguments: str) -> None:
    """Most of them raise, so only a trace recorded with another function replays them."""
    eager, traced = both(
        f"def f(call, labels, weights):\n    np.negative(weights)\n    return call({arguments})"
    )

    def given(call: Any) -> Any:
        return lambda: [call, np.array([1, 2, 2]), np.ones(3)]

    def average(*given: Any, **named: Any) -> int:
        return len(given) + len(named)

    for recorded in (np.average, partial(average)):
        for _ in range(WARM_UP):
            check(eager, traced, given(recorded))
        check(eager, traced, given(np.bincount))
    if "x=labels, weights" not in arguments:
        with pytest.raises(TypeError):
            traced(np.bincount, np.array([1, 2, 2]), np.ones(3))


def test_read_only_operands_and_results() -> None:
    labels, weights = np.array([3, 1, 1]), np.array([0.5, 1.5, 2.5])
    labels.flags.writeable = weights.flags.writeable = False
    eager, traced = traced_and_warm(CALLS[1], lambda: [np.array([1, 2, 2]), np.ones(3)])
    assert counted(eager, traced, lambda: [labels, weights]) == (1, 0)
    result = traced(labels, weights)
    result += 1.0  # it owns its memory
    np.testing.assert_array_equal(result, [1.0, 5.0, 1.0, 1.5])


def test_another_function_of_that_name() -> None:
    class Own:
        @staticmethod
        def bincount(labels: Any, weights: Any) -> str:
            return f"{len(labels)} of mine"

        negative = np.negative

    eager, traced = both(
        "def f(labels, weights):\n    np.negative(weights)\n    return np.bincount(labels, weights)", np=Own
    )
    for _ in range(4):
        before = (_core.counter("histograms_computed"), _core.counter("histograms_left"))
        check(eager, traced, lambda: [np.array([1, 2]), np.ones(2)])
        assert (_core.counter("histograms_computed"), _core.counter("histograms_left")) == before
    assert traced(np.array([1, 2]), np.ones(2)) == "2 of mine"


def test_in_a_loop() -> None:
    source = """
def f(labels, weights):
    total = weights * 0.0
    for number in range(20):
        total = total + np.bincount(labels % (number + 1), weights, minlength=total.size)[: total.size]
    return total
"""
    eager, traced = both(source)
    for size in (1, 50, 3000):
        for _ in range(3):
            check(eager, traced, lambda: [np.arange(size), np.linspace(-1.0, 1.0, size)])  # noqa: B023
    before = _core.counter("histograms_computed")
    check(eager, traced, lambda: [np.arange(50), np.linspace(-1.0, 1.0, 50)])
    assert _core.counter("histograms_computed") - before == 20


RANDOM_CALLS = (
    "np.bincount(x)",
    "np.bincount(x, w)",
    "np.bincount(x, w, m)",
    "np.bincount(x, minlength=m)",
    "np.bincount(x, weights=w, minlength=m)",
    "np.bincount(x, None, m)",
    "np.bincount(minlength=m, x=x)",
    "np.bincount(x, m, w)",
)


def random_labels(chance: random.Random, numbers: np.random.Generator) -> np.ndarray:
    size = chance.choice([0, 1, 2, 5, 8, 9, 64, 255, 256, 257, 1000, 2040, 2048, 5001])
    most = chance.choice([1, 2, 8, 9, 16, 17, 32, 33, 100, 256, 257, 1000, 70_000])
    code = chance.choice("?bBhHiIlqLQfd")
    if code == "?":
        labels = numbers.integers(0, 2, size).astype(bool)
    elif code in "fd":
        labels = numbers.uniform(0, most, size).astype(code)
    else:
        labels = numbers.integers(0, min(most, np.iinfo(code).max), size).astype(code)
    if code in "bhilq" and size and chance.random() < 0.1:
        labels[chance.randrange(size)] = -1
    if chance.random() < 0.1:
        labels = labels[:: chance.choice([2, -1])]
    return labels if chance.random() < 0.95 else labels.reshape(-1, 1)


def random_weights(chance: random.Random, numbers: np.random.Generator, size: int) -> Any:
    kind = chance.random()
    if kind < 0.6:
        weights = numbers.normal(size=size) * 10.0 ** numbers.integers(-20, 20, size)
        if size and chance.random() < 0.1:
            weights[chance.randrange(size)] = chance.choice([np.nan, np.inf, -np.inf, -0.0])
        return weights
    if kind < 0.8:
        return numbers.normal(size=size + chance.choice([0, 1])).astype(chance.choice(["f", "d", ">f8"]))
    return None if kind < 0.9 else numbers.integers(0, 9, size)


def test_random_calls() -> None:
    chance, numbers = random.Random(5), np.random.default_rng(5)
    functions = [
        both(f"def f(x, w, m):\n    np.negative(np.ones(2))\n    return {call}") for call in RANDOM_CALLS
    ]
    before = (_core.counter("histograms_computed"), _core.counter("histograms_left"))
    for _ in range(500):
        labels = random_labels(chance, numbers)
        weights = random_weights(chance, numbers, labels.size)
        least = chance.choice([0, 1, 8, 40, 100, None, -1, True, 2.0, np.int64(5), 70_000])
        check(*chance.choice(functions), lambda: [labels, weights, least])  # noqa: B023
    after = (_core.counter("histograms_computed"), _core.counter("histograms_left"))
    assert after[0] - before[0] > 40
    assert after[1] - before[1] > 40


# --- between array operations, in one group with them

K_MEANS = """d = (x[:, None] - c) ** 2 + (y[:, None] - c) ** 2
    labels = np.argmin(d, axis=1)
    counts = np.bincount(labels, minlength=n)
    new_x = np.bincount(labels, weights=x, minlength=n) / counts
    return new_x, np.bincount(labels, weights=y, minlength=n) / counts"""
TOGETHER = (
    K_MEANS,
    "return np.bincount((x * y).astype(int), minlength=n)",
    "a = (x * y).astype(int)\n    return np.bincount(a, x - y), a",
    "b = np.bincount((x * y).astype(int), weights=x * 2.0, minlength=n)\n    return b * 2.0, b - 1.0, b",
    "b = np.bincount((x + y).astype(int), minlength=n) * 1.0\n    return b / b.sum()",
    "return np.bincount(np.bincount((x + y).astype(int)), minlength=n)",
    "a = (x + y).astype(int)\n    b = np.bincount(np.bincount(a))\n    return np.bincount(a, minlength=n), b + 1, b",
)
APART = (
    "a = (x + y).astype(int)\n    return np.bincount(a, np.bincount(a, minlength=len(a)) * 0.5)",
    "b = np.bincount((x + y).astype(int), minlength=n)\n    return b[1:] - b[:-1], b[::-1] * 2",
    "b = np.bincount((x + y).astype(int), minlength=n)\n    b += 1\n    return b",
    "b = np.bincount((x + y).astype(int), minlength=n)\n    np.add(b, 1, out=b)\n    return b * 2",
    "y += x * 2.0\n    return np.bincount(y.astype(int), minlength=n), y * 2.0",
    "b = np.bincount((x + y).astype(int), minlength=n)\n    y += x * 2.0\n    return b, y",
    "b = np.bincount((x + y).astype(int), minlength=n)\n    c[0] = x[0] * 2.0\n    return b, c",
    "a = x * 2.0 - y\n    b = np.bincount((x + y).astype(int))\n    print(end='')\n    return a, b",
    "b = 0\n    for i in range(3):\n        b = b + np.bincount((x + i).astype(int), minlength=n)[:n]\n    return b",
    "b = np.bincount((x + y).astype(int), minlength=n)\n    return np.bincount(b, weights=b), b.sum()",
    "a = (x + y).astype(int)\n    b = [np.bincount(a, minlength=n) for i in range(10)]\n    return b[0] + b[9]",
    "a = (x + y).astype(int)\n    return np.bincount(a, None), np.bincount(a, x, n), np.bincount(a, minlength=n)",
)


def together(body: str) -> tuple[Function, Function]:
    _core.set_option("fusion", 2)
    _core.set_option("retire_after", 0)
    return both(f"def f(x, y, c, n):\n    {body}\n")


def points(size: int = 200) -> list[Any]:
    numbers = np.random.default_rng(size)
    return [numbers.uniform(0.0, 5.0, size), numbers.uniform(1.0, 4.0, size), numbers.uniform(0.0, 5.0, 8), 8]


@pytest.mark.parametrize("body", [*TOGETHER, *APART])
def test_among_operations(body: str) -> None:
    eager, traced = together(body)
    for _ in range(3 * WARM_UP):
        check(eager, traced, points, {"all": "ignore"})
    for size in (1, 10, 1000, 3000):
        before = _core.counter("whole_groups")
        check(eager, traced, lambda size=size: points(size), {"all": "ignore"})
        # Beside integers, NumPy 1.x looks at the value of a number before it becomes a float.
        if body in TOGETHER and (NUMPY_2 or "* 1.0" not in body):
            assert _core.counter("whole_groups") > before, tagalong.explain(traced)
    for errstate in ({"all": "warn"}, {"all": "raise"}):
        for _ in range(3):
            check(eager, traced, points, errstate)
    assert tagalong.stats(traced).hits > 0


@pytest.mark.parametrize("body", [*TOGETHER, *APART])
def test_among_operations_with_exceptions_and_other_operands(body: str) -> None:
    """Calls that raise, calls left to NumPy, and other kinds of operands, again and again."""
    eager, traced = together(body)
    for _ in range(3 * WARM_UP):
        check(eager, traced, points, {"all": "ignore"})
    x, y, c, n = points()
    others: list[list[Any]] = [
        [-x, y, c, n],
        [x, y[1:], c, n],
        [np.full(200, np.nan), y, c, n],
        [np.where(x > 4.0, np.inf, x), y, c, n],
        [x.astype("f4"), y, c, n],
        [x.astype(int), y.astype(int), c, n],
        [x, y, c, 9],
        [x, y, c, 0],
        [x, y, c, -1],
        [x, y, c, None],
        [x, y, c, True],
        [x, y, c, 2**70],
        [x, y, c, 100_000],
        [x, y, c, np.int64(8)],
        [x[::2], y[::-2], c, n],
        [x[:0], y[:0], c, n],
        [x.tolist(), y, c, n],
        [x * 1000.0, y, c, n],
    ]
    for errstate in ({"all": "ignore"}, {"all": "warn"}):
        for other in [*others, points(), *others]:
            copies = lambda: [v.copy() if isinstance(v, np.ndarray) else v for v in other]  # noqa: B023, E731
            check(eager, traced, copies, errstate)
            check(eager, traced, points, errstate)
    assert tagalong.stats(traced).hits > 0


def test_operands_of_calls_have_no_other_references() -> None:
    """References to values that are passed from one to the other."""
    eager, traced = together(K_MEANS)
    for _ in range(3 * WARM_UP):
        check(eager, traced, points, {"all": "ignore"})
    operands = points()
    counts = [sys.getrefcount(operand) for operand in operands[:3]]
    for _ in range(100):
        mine, expected = traced(*operands), eager(*operands)
        assert [sys.getrefcount(one) for one in mine] == [sys.getrefcount(one) for one in expected]
    del mine, expected
    assert [sys.getrefcount(operand) for operand in operands[:3]] == counts


def test_another_number_of_bins_each_time() -> None:
    """A minlength that is another object in each call gets no plan."""
    eager, traced = together(TOGETHER[1])
    for n in [*range(3 * WARM_UP), *range(1000, 1040)]:
        check(eager, traced, lambda n=n: [*points()[:3], n], {"all": "ignore"})
    assert "one by one" not in tagalong.explain(traced)
    assert tagalong.stats(traced).hits > 0
