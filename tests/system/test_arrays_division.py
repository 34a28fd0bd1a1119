"""Quotients by one number, computed without division: the bits, flags and warnings of NumPy."""

from __future__ import annotations

import itertools
import struct
import warnings
from collections.abc import Callable
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, HAS_VECTORS, described, misaligned
from tagalong import _core, testing
from tagalong._core import _UfuncSite

TRUE_DIVIDE = 11
RANDOM = np.random.default_rng(7)
SIZES = (*range(80), 255, 256, 257, 1023, 1024, 1025, 1031, 3000)
DIVISORS = (3.0, 1.0, 0.1, 7.0, 1 / 3, 1e-140, 1e140, 2.0**-500, 2.0**500, 49.0, 1.9999999999999998, 1.9999999999999996,
            1.0000000000000002, 5e-324, 0.0, -0.0, -3.0, float("inf"), float("nan"), 1e300, 1e-300)  # fmt: skip


def double(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def both(x: Any, divisor: Any, state: dict[str, Any], temporary: bool) -> None:
    """The results of eager NumPy and of the site, with their warnings."""
    said: list[Any] = []

    def run(divide: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught, np.errstate(**state):
            warnings.simplefilter("always")
            try:
                result = described(divide())
            except FloatingPointError as error:
                result = str(error)
        return result, [str(warning.message) for warning in caught], said.copy(), said.clear()

    site = _UfuncSite()
    mine = run(lambda: site.binary(TRUE_DIVIDE, [x.copy(), divisor], 1 if temporary else 0))
    assert mine == run(lambda: np.true_divide(x, divisor)), (x.size, divisor, state, temporary)
    assert site.direct + site.fallback == 1


def bits(result: np.ndarray) -> np.ndarray:
    return result.view(np.uint64)


def compared(x: np.ndarray, divisor: float) -> None:
    site = _UfuncSite()
    mine = site.binary(TRUE_DIVIDE, [x, divisor], 0)
    assert np.array_equal(bits(mine), bits(np.full(x.size, 1.0) * x / np.full(x.size, divisor))), divisor


def dividends(kind: str, size: int) -> np.ndarray:
    x = RANDOM.normal(size=size) * 10.0 ** RANDOM.integers(-3, 4, size=size)
    if kind == "zeros":
        x[RANDOM.random(size) < 0.3] = 0.0
        x[RANDOM.random(size) < 0.3] = -0.0
    if kind == "rare" and size:
        odd = [double(0x7FF8000000000123), double(0xFFF8000000000456), np.inf, -np.inf, 5e-324, -1e-310, 1e308,
               double(0x7FF4000000000001), 2.2250738585072014e-308, 1e-305]  # fmt: skip
        x[RANDOM.integers(0, size)] = odd[int(RANDOM.integers(len(odd)))]
    if kind == "tiny":
        x *= 1e-307
    if kind == "huge":
        x *= 1e304
    return x


@pytest.mark.parametrize("temporary", [False, True])
@pytest.mark.parametrize("kind", ["ordinary", "zeros", "rare", "tiny", "huge"])
def test_bits_and_reports(kind: str, temporary: bool) -> None:
    for size in SIZES:
        for divisor in DIVISORS:
            both(dividends(kind, size), divisor, ERRSTATES[0], temporary)
    for state in ERRSTATES[1:3]:
        for size in (40, 1500):
            for divisor in DIVISORS:
                both(dividends(kind, size), np.float64(divisor), state, temporary)


def test_is_computed_without_division() -> None:
    if not HAS_VECTORS:
        pytest.skip("this machine has no such instructions")
    before, in_two = (
        (_core.counter("quotients_multiplied"), _core.counter("quotients_divided")),
        _core.counter("quotients_in_two"),
    )
    compared(RANDOM.normal(size=5000), 3.0)
    compared(dividends("zeros", 5000), 0.7)
    after = (_core.counter("quotients_multiplied"), _core.counter("quotients_divided"))
    assert after[0] - before[0] == 10 and after[1] == before[1]
    assert _core.counter("quotients_in_two") - in_two == 10
    compared(np.full(5000, 1e-308), 3.0)
    assert _core.counter("quotients_divided") - after[1] == 5


def rounded(number: Fraction, precision: int) -> Fraction:
    """The number rounded to this many bits; ties to even."""
    if not number:
        return number
    exponent = abs(number.numerator).bit_length() - number.denominator.bit_length() - precision
    unit = Fraction(2) ** (exponent + (abs(number) >= Fraction(2) ** (exponent + precision)))
    return round(number / unit) * unit


def of_two_operations(dividend: int, divisor: int, precision: int) -> Fraction:
    high = rounded(Fraction(1, divisor), precision)
    low = rounded(Fraction(1, divisor) - high, precision)
    return rounded(dividend * high + rounded(dividend * low, precision), precision)


def dangerous(divisor: int, precision: int) -> int | None:
    """The only dividend of this precision whose quotient in two operations can be wrong."""
    if divisor % 2 == 0:
        return None
    root = pow(2, -precision - 1, divisor)
    return next((x for x in (root, divisor - root) if x >> (precision - 1)), None)


def takes_two(divisor: int, precision: int = 53) -> bool:
    x = dangerous(divisor, precision)
    right = x is None or rounded(Fraction(x, divisor), precision)
    return x is None or of_two_operations(x, divisor, precision) == right


@pytest.mark.parametrize("precision", range(3, 9))
def test_theorem_in_small(precision: int) -> None:
    """All dividends and divisors of few bits."""
    significands = range(1 << (precision - 1), 1 << precision)
    for divisor in significands:
        wrong = [
            x
            for x in significands
            if of_two_operations(x, divisor, precision) != rounded(Fraction(x, divisor), precision)
        ]
        assert wrong == ([] if takes_two(divisor, precision) else [dangerous(divisor, precision)])


def near_middles(divisor: int) -> list[int]:
    """Dividends whose quotients by this significand are close to the middle of two doubles."""
    zeros = (divisor & -divisor).bit_length() - 1
    odd = divisor >> zeros
    found = []
    for bits_, distance, side in itertools.product((53, 54), (1, 3, 5), (1, -1)):
        root = side * distance * pow(2, zeros - bits_, odd) % odd
        found.append(root + -((root - (1 << 52)) // odd) * odd)
    return [x for x in found if 1 << 52 <= x < 1 << 53]


def significands() -> list[int]:
    """Significands of divisors; the last ones are known to need more than two operations."""
    least, most = 1 << 52, (1 << 53) - 1
    chosen = [int(x) for x in RANDOM.integers(least, most, size=1500)]
    chosen += [least + i for i in range(100)] + [most - i for i in range(100)]
    chosen += [int(float(i) * 2.0 ** (53 - i.bit_length())) for i in range(1, 200)]
    refused = (int(x) | 1 for x in RANDOM.integers(least, most, size=10_000))
    return chosen + list(itertools.islice((y for y in refused if not takes_two(y)), 60))


def test_divisors_in_two_operations_and_others() -> None:
    counted = {True: 0, False: 0}
    for divisor in significands():
        near = near_middles(divisor)
        x = RANDOM.integers(1 << 52, 1 << 53, size=600).astype(float)
        x[RANDOM.permutation(x.size)[: 3 * len(near)]] = np.resize(np.array(near, float), 3 * len(near))
        x = np.ldexp(x, RANDOM.integers(-500, 400, size=x.size)) * RANDOM.choice([-1.0, 1.0], x.size)
        before = _core.counter("quotients_in_two")
        compared(x, float(np.ldexp(float(divisor), int(RANDOM.integers(-500, 300)))))
        if HAS_VECTORS:
            expected = takes_two(divisor) and divisor != (1 << 53) - 1
            assert _core.counter("quotients_in_two") - before == expected, divisor
            counted[expected] += 1
    assert not HAS_VECTORS or (counted[True] > 1500 and counted[False] > 60)


def test_the_one_quotient_that_two_operations_miss() -> None:
    for divisor in significands()[-60:]:
        x = dangerous(divisor, 53)
        assert x is not None and float(of_two_operations(x, divisor, 53)) != x / divisor
        assert x / divisor == float(Fraction(x, divisor))
        for sign in (1.0, -1.0):
            mine = _UfuncSite().binary(TRUE_DIVIDE, [np.full(1000, sign * x), float(divisor)], 0)
            assert (mine == sign * (x / divisor)).all()


SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 2.0**-512, 2.0**-511, -(2.0**512), 2.0**513,
           1.7976931348623157e308, np.inf, -np.inf, double(0x7FF8000000000123), double(0xFFF8000000000456),
           double(0x7FF4000000000001), double(0xFFF0000000000007)]  # fmt: skip
NEEDS_MORE = float.fromhex("0x1.e69c5c1dff107p+0")  # than two operations
HIGH_TOO_LARGE = 10.0  # the reciprocal as a double: the product of the rest with -0.0 is 0.0


@pytest.mark.parametrize("divisor", [HIGH_TOO_LARGE, 3.0, 2.0, NEEDS_MORE, 2.0**-490])
def test_special_values_in_each_lane(divisor: float) -> None:
    lanes = (*range(50), *range(250, 300))
    for special, lane in itertools.product(SPECIAL, lanes):
        x = RANDOM.normal(size=300)
        x[lane] = special
        both(x, divisor, ERRSTATES[0], False)
        x[lane - 1] = -0.0
        both(x, divisor, ERRSTATES[0], False)


@pytest.mark.parametrize("divisor", [HIGH_TOO_LARGE, 0.7, NEEDS_MORE])
@pytest.mark.parametrize("kind", ["ordinary", "zeros", "rare"])
def test_in_place_from_each_offset(kind: str, divisor: float) -> None:
    for first, size in itertools.product(
        range(9), (40, 127, 128, 129, 255, 256, 257, 290, 1024, 1030, 1033, 3000)
    ):
        mine = dividends(kind, size + first)
        eager = mine.copy()
        with np.errstate(all="ignore"):
            _UfuncSite().binary(13 + TRUE_DIVIDE, [mine[first:], divisor], 0)
            eager[first:] /= divisor
        assert np.array_equal(bits(mine), bits(eager))


def test_misaligned() -> None:
    def quotients(x, divisor):
        return x / divisor

    traced = tagalong.trace(FunctionType(quotients.__code__.replace(), globals(), "f"))
    for size, divisor in itertools.product((40, 300, 5000), (HIGH_TOO_LARGE, 0.7, NEEDS_MORE)):
        x = misaligned(dividends("zeros", size))
        for _ in range(3):
            assert np.array_equal(bits(traced(x, divisor)), bits(quotients(x, divisor)))


def test_random_quotients() -> None:
    for _ in range(200):
        divisor = float(RANDOM.uniform(1, 2)) * 2.0 ** int(RANDOM.integers(-499, 499))
        x = RANDOM.integers(1 << 52, 1 << 53, size=20_000).astype(float)
        compared(np.ldexp(x, RANDOM.integers(-400, 300, size=x.size)), divisor)


def nearest_to_middles(divisor: int) -> list[float]:
    """Dividends whose quotients by this significand are as close to the middle of two doubles as any."""
    found = []
    for bits_ in (53, 54, 55):
        inverse = pow(divisor, -1, 1 << bits_)
        for distance in (1, 3, 5, 7):
            for side in (1, -1):
                middle = side * distance * inverse % (1 << bits_)
                product = divisor * middle - side * distance
                dividend = product >> bits_
                if product == dividend << bits_ and 1 << 52 <= dividend < 1 << 53:
                    found.append(float(dividend))
    return found


def test_quotients_near_the_middle_of_two() -> None:
    count = 0
    for _ in range(3000):
        divisor = int(RANDOM.integers(1 << 52, 1 << 53)) | 1
        x = nearest_to_middles(divisor)
        count += len(x)
        compared(np.array((x * 32)[:64] if x else [1.0] * 32), float(divisor))
    assert count > 3000
    for last in range(1, 400, 2):  # significands near both ends
        for divisor in ((1 << 53) - last, (1 << 52) + last):
            x = nearest_to_middles(divisor)
            compared(np.array((x * 32)[:64] if x else [1.0] * 32), float(divisor))
            near = np.arange(divisor - 200, divisor + 200).astype(float)
            compared(near, float(divisor))


def test_in_place() -> None:
    for size in (40, 1024, 5000):
        x = dividends("rare", size)
        mine, eager = x.copy(), x.copy()
        with np.errstate(all="ignore"):
            _UfuncSite().binary(13 + TRUE_DIVIDE, [mine, 3.0], 0)
            eager /= 3.0
        assert np.array_equal(bits(mine), bits(eager))


def two_quotients(x, a, b):
    return (x / a + 1.0) / b - x


def quotient_and_root(x, a, b):
    return np.sqrt(np.abs(x)) / a < x / b


def summed(x, a, b):
    return (x / a - np.sqrt(x * x) / b).sum()


JOINED = (two_quotients, quotient_and_root, summed)
JOINED_SIZES = (1, 100, 767, 768, 769, 1023, 1024, 1025, 1791, 1792, 5000)
NUMBERS = tuple(itertools.pairwise(DIVISORS)) + ((3.0, 3.0), (0.1, 7.0), (49.0, 1 / 3))


def said(function: Callable[..., Any], state: dict[str, Any], *arguments: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught, np.errstate(**state):
        warnings.simplefilter("always")
        try:
            result = described(function(*arguments))
        except FloatingPointError as error:
            result = str(error)
    return result, [str(warning.message) for warning in caught]


def joined(program: Callable[..., Any]) -> Callable[..., Any]:
    _core.set_option("fusion", 2)
    _core.set_option("retire_after", 0)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), program.__globals__, "f"))
    for _ in range(6):
        traced(dividends("ordinary", 2000), 3.0, 7.0)
    return traced


@pytest.mark.parametrize("kind", ["ordinary", "zeros", "rare", "tiny", "huge"])
@pytest.mark.parametrize("program", JOINED, ids=lambda program: program.__name__)
def test_fused_bits_and_reports(program: Callable[..., Any], kind: str) -> None:
    traced = joined(program)
    for state, size in itertools.product(ERRSTATES[:3], JOINED_SIZES):
        for a, b in NUMBERS:
            arguments = dividends(kind, size), a, b
            assert said(traced, state, *arguments) == said(program, state, *arguments), (state, size, a, b)


def test_fused_without_division() -> None:
    if not HAS_VECTORS:
        pytest.skip("this machine has no such instructions")
    traced = joined(two_quotients)
    x = RANDOM.normal(size=4 * 8192)  # this many blocks
    before = (_core.counter("quotients_multiplied"), _core.counter("quotients_divided"))
    with testing.events() as events:
        mine = traced(x, 3.0, 0.7)
    after = (_core.counter("quotients_multiplied"), _core.counter("quotients_divided"))
    assert events == ["hit"] and mine.tobytes() == two_quotients(x, 3.0, 0.7).tobytes()
    assert (after[0] - before[0], after[1] - before[1]) == (4, 0)
    tiny = x * 1e-300 * 1e-8
    with np.errstate(all="ignore"):
        assert traced(tiny, 3.0, 0.7).tobytes() == two_quotients(tiny, 3.0, 0.7).tobytes()
    assert _core.counter("quotients_divided") > after[1]


def test_fused_random_quotients() -> None:
    traced = joined(two_quotients)
    for _ in range(200):
        a, b = (float(RANDOM.uniform(1, 2)) * 2.0 ** int(RANDOM.integers(-99, 99)) for _ in range(2))
        x = np.ldexp(
            RANDOM.integers(1 << 52, 1 << 53, size=20_000).astype(float),
            RANDOM.integers(-200, 200, size=20_000),
        )
        x *= RANDOM.choice([-1.0, 1.0], x.size)
        assert traced(x, a, b).tobytes() == two_quotients(x, a, b).tobytes(), (a, b)


def test_fused_quotients_near_the_middle_of_two() -> None:
    def nothing_else(x, a):
        return x / a, np.sqrt(np.abs(x))

    traced = tagalong.trace(FunctionType(nothing_else.__code__.replace(), globals(), "f"))
    rows = []
    for _ in range(3000):
        divisor = int(RANDOM.integers(1 << 52, 1 << 53)) | 1
        rows.append((divisor, nearest_to_middles(divisor)))
    for last in range(1, 400, 2):
        rows.extend(
            (divisor, nearest_to_middles(divisor)) for divisor in ((1 << 53) - last, (1 << 52) + last)
        )
    before = _core.counter("quotients_multiplied")
    for divisor, found in rows:
        x = np.resize(np.array(found or [1.0]), 1024)
        assert traced(x, float(divisor))[0].tobytes() == (x / float(divisor)).tobytes(), divisor
    if HAS_VECTORS:
        assert _core.counter("quotients_multiplied") - before > len(rows) - 10
