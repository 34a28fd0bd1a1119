"""Powers of doubles by the steps of libm's pow: the same bits, warnings and exceptions as NumPy's loop."""

from __future__ import annotations

import math
import platform
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_CODE, Seen, compare_runs, described, misaligned
from libm_support import RNG, SPECIAL
from tagalong import _core
from tagalong._core import _UfuncSite

DEAD = 1 << 8
BLOCK = 1024  # number of elements computed at once
COUNT = 200_000


def numpy_calls_libm() -> bool:
    x, y = RNG.uniform(0, 10, 20_000), RNG.uniform(-4, 4, 20_000)
    expected = [math.pow(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    return np.power(x, y).tolist() == expected


_UfuncSite().call(np.power, [np.ones(20), np.ones(20)], 0)  # the trial at the first use counts elements, too
HAS_STEPS = HAS_CODE and platform.libc_ver()[0] == "glibc" and numpy_calls_libm()


def counted() -> np.ndarray:
    return np.array([_core.counter("glibc_computed"), _core.counter("glibc_left")])


def assert_same(x: Any, y: Any) -> np.ndarray:
    """Compares one call; returns how many elements the steps have computed and left over."""
    before = counted()
    result = _UfuncSite().call(np.power, [x, y], 0)
    count = counted() - before
    expected = np.power(x, y)
    wrong = np.flatnonzero(result.view(np.int64) != expected.view(np.int64))
    x, y = np.broadcast_arrays(x, y)
    assert wrong.size == 0, [(x[i].hex(), y[i].hex()) for i in wrong[:5]]
    return count


def end_pause() -> None:
    """After a block of which most is left to libm, the next ones are not tried."""
    x = RNG.uniform(1, 2, 16 * BLOCK)
    assert_same(x, x)


def magnitudes(least: int, most: int) -> np.ndarray:
    return np.ldexp(RNG.uniform(1, 2, COUNT), RNG.integers(least, most, COUNT))


def to_result(base: np.ndarray, most: float) -> np.ndarray:
    """Exponents for which the logarithms of the results are up to `most`."""
    with np.errstate(divide="ignore"):
        return RNG.uniform(-most, most, base.size) / np.abs(np.log(base))


def whole(most: int) -> np.ndarray:
    return RNG.integers(-most, most + 1, COUNT).astype(np.float64)


def beside(x: np.ndarray) -> np.ndarray:
    return (x.view(np.int64) + RNG.integers(-40, 40, x.size)).view(np.float64)


def all_exponents() -> tuple[np.ndarray, np.ndarray]:
    x = magnitudes(-1022, 1024)
    return x, to_result(x, 511)


def near_one() -> tuple[np.ndarray, np.ndarray]:
    x = 1.0 + np.ldexp(RNG.uniform(-1, 1, COUNT), -RNG.integers(1, 50, COUNT))
    return x, to_result(x, 511)


def where_parts_meet() -> tuple[np.ndarray, np.ndarray]:
    """Bases beside the boundaries of the table of logarithms."""
    edges = (0x3FE6955500000000 + (RNG.integers(0, 129, COUNT) << 45)).view(np.float64)
    return np.ldexp(beside(edges), RNG.integers(-20, 20, COUNT)), RNG.uniform(-10, 10, COUNT)


def where_results_meet() -> tuple[np.ndarray, np.ndarray]:
    """Results beside the boundaries of the table of powers."""
    x = RNG.uniform(1.1, 100, COUNT)
    return x, beside(RNG.integers(-90_000, 90_000, COUNT) * (math.log(2) / 256) / np.log(x))


# The least part of the elements that the steps compute.
PAIRS: dict[str, tuple[float, Any]] = {
    "ordinary": (1.0, lambda: (RNG.uniform(0.01, 10, COUNT), RNG.uniform(-4, 4, COUNT))),
    "all exponents": (1.0, all_exponents),
    "near one": (0.9, near_one),
    "where parts of the base meet": (1.0, where_parts_meet),
    "where parts of the result meet": (0.9, where_results_meet),
    "tiny exponents": (0.9, lambda: (magnitudes(-300, 300), magnitudes(-68, -1))),
    "whole exponents": (1.0, lambda: (RNG.uniform(-9, 9, COUNT), whole(30))),
    "large whole exponents": (
        0.9,
        lambda: (1 + np.ldexp(RNG.uniform(-1, 1, COUNT), -54 + RNG.integers(0, 3)), whole(2**53)),
    ),
    "negative to halves": (0.4, lambda: (RNG.uniform(-9, 9, COUNT), whole(20) / 2)),
    "huge and tiny results": (0.5, lambda: (x := magnitudes(-1022, 1024), to_result(x, 760))),
    "any bits": (0.0, lambda: tuple(RNG.integers(-(2**63), 2**63 - 1, (2, COUNT)).view(np.float64))),
}


@pytest.mark.parametrize("kind", [*PAIRS])
def test_bits(kind: str) -> None:
    least, make = PAIRS[kind]
    x, y = make()
    total = np.zeros(2, np.int64)
    end_pause()
    with np.errstate(all="ignore"):
        for part in np.array_split(np.arange(x.size), 10):
            total += assert_same(x[part], y[part])
    if HAS_STEPS:
        # Zero is an exponent that the steps do not cover.
        assert total.sum() <= x.size and total[0] >= least * np.count_nonzero(y), total


@pytest.mark.parametrize(
    "number", [3, 3.0, -1.0, 1.0, 1.5, -2.5, 7.0, 1 / 3, 2.0, 0.5, 0.0, -0.0, np.nan, np.inf, 1e300, 1e-320]
)
def test_one_operand_is_a_number(number: float) -> None:
    """For some exponents NumPy squares, takes the root or divides."""
    end_pause()
    x = np.concatenate([RNG.uniform(-9, 9, 5 * BLOCK), magnitudes(-300, 300)[: 5 * BLOCK], SPECIAL])
    with np.errstate(all="ignore"):
        as_exponent = assert_same(x, number)
        as_base = assert_same(number, x)
        assert_same(x, np.full(x.size, number, np.float64))
    if HAS_STEPS and 1e-19 < abs(number) < 9:
        are_numpys = number in (-1.0, 0.5, 1.0, 2.0)
        assert as_exponent.sum() == (0 if are_numpys else x.size)
        assert as_exponent[0] >= (0 if are_numpys else 0.4 * x.size)
        assert as_base[0] >= (0 if number < 0 else 0.4 * x.size)


def test_ordinary_pairs_are_all_computed() -> None:
    end_pause()
    for x, y in (
        (RNG.uniform(0.1, 9, 64 * BLOCK), RNG.uniform(-9, 9, 64 * BLOCK)),
        (RNG.normal(size=64 * BLOCK), 3),
    ):
        count = assert_same(x, y)
        assert not HAS_STEPS or (count[0] == x.size and count[1] == 0)


def test_lengths_and_places() -> None:
    x, y = RNG.uniform(-9, 9, 4000), RNG.integers(-5, 6, 4000).astype(np.float64)
    for size in [*range(71), *range(1016, 1033), 2047, 2048, 2049, 3000]:
        for offset in range(0, 9, 3):
            assert_same(x[offset : offset + size], y[offset + 1 : offset + 1 + size])
    unaligned = misaligned(x[:200])
    compare_runs(
        lambda: np.power(unaligned, y[:200]),
        lambda site: site.call(np.power, [unaligned, y[:200]], 0),
        must_be_direct=False,
    )


def parts_of(x: np.ndarray) -> list[np.ndarray]:
    return [x[:1300], x[:2600:2], x[1299::-1], x[3899::-3], x[:3900].reshape(1300, 3)[:, 1]]


def test_strides() -> None:
    end_pause()
    x, y = RNG.uniform(0.1, 9, 4000), RNG.uniform(-5, 5, 4000)
    x[::50] = np.inf
    for one in parts_of(x):
        for other in parts_of(y):
            count = assert_same(one, other)
            assert not HAS_STEPS or count.sum() == 1300
    columns, rows = x[:3600].reshape(60, 60), y[:3600].reshape(60, 60)
    for one, other in (
        (columns.T, rows),
        (columns.T, rows.T),
        (columns[:, :1], rows),
        (columns, rows[:, :1]),
        (columns[:, 3:40], np.round(rows[:1, 3:40])),
        (np.where(columns > 5, 2.0, columns)[:, :1], rows),
        (columns, np.where(rows > 0, 2.0, 0.5)[:, :1]),
    ):
        compare_runs(
            lambda: np.power(one, other),  # noqa: B023
            lambda site: site.call(np.power, [one, other], 0),  # noqa: B023
            must_be_direct=False,
        )


@pytest.mark.parametrize("which", [0, 1, 2])
def test_into_an_operand(which: int) -> None:
    """The last vector overlaps elements that have already been computed in place."""
    x, y = RNG.uniform(0.1, 9, 3000), RNG.uniform(-5, 5, 3000)
    x[5::11] = np.nan
    for size in (*range(40), 1000, *range(BLOCK - 8, BLOCK + 20), 2 * BLOCK + 7, 3000):
        operands = [x[:size] + 0.0, y[:size] + 0.0]
        dead = [DEAD, DEAD << 1, DEAD | DEAD << 1][which]
        site = _UfuncSite()
        result = site.call(np.power, operands, dead)
        assert described(result) == described(np.power(x[:size] + 0.0, y[:size] + 0.0))


def test_result_over_parts_of_an_operand() -> None:
    x, y = RNG.uniform(0.1, 9, 3000), RNG.uniform(-5, 5, 3000)

    def over(places: slice, base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
        out = base[places]
        np.power(base[: out.size], exponent[: out.size], out=out)
        return base

    traced = tagalong.trace(FunctionType(over.__code__.replace(), globals()))
    for places in (slice(0, 1500), slice(1, 1501), slice(7, 2007), slice(1500, 3000), slice(None, None, 2)):
        for _ in range(4):
            assert traced(places, x.copy(), y).tobytes() == over(places, x.copy(), y).tobytes()


@pytest.mark.parametrize("how", ["warn", "raise", "call", "ignore"])
def test_special_numbers_and_flags(how: str) -> None:
    signalling = np.array([0x7FF0000000000001, 0xFFF4000000000000], np.uint64).view(np.float64)
    payload = np.array([0x7FF8000000000123, 0xFFF8000000000456], np.uint64).view(np.float64)
    large = np.array([2.0**51, 2.0**51 - 1, 2.0**52 + 1, 2.0**53, -(2.0**63), 2.0**-65, 2.0**-66, 3.0, 0.5])
    compared = np.concatenate([SPECIAL, signalling, payload, large])
    for size in (16, 1500):
        for place, other in ((i, j) for i in range(compared.size) for j in range(compared.size)):
            if size == 1500 and (place + other) % 7 != 0:
                continue
            x, y = RNG.uniform(0.1, 6, size), RNG.uniform(-3, 3, size)
            x.view(np.int64)[size - 3] = compared[place : place + 1].view(np.int64)[0]
            y.view(np.int64)[size - 3] = compared[other : other + 1].view(np.int64)[0]
            compare_runs(
                lambda: np.power(x, y),  # noqa: B023
                lambda site: site.call(np.power, [x, y], 0),  # noqa: B023
                errstate={"all": how},
                label=f"{size} {compared[place]} {compared[other]}",
            )


def test_flags_of_results() -> None:
    """Results that overflow, underflow or are subnormal are reported, and none beside them."""
    for base, exponent in (
        (10.0, 308.2),
        (10.0, 308.3),
        (10.0, -307.7),
        (10.0, -310.0),
        (10.0, -330.0),
        (-8.0, 1 / 3),
    ):
        x, y = RNG.uniform(0.1, 6, 64), RNG.uniform(-3, 3, 64)
        x[20], y[20] = base, exponent
        for errstate in ({"all": "warn"}, {"all": "raise"}):
            compare_runs(
                lambda: np.power(x, y),  # noqa: B023
                lambda site: site.call(np.power, [x, y], 0),  # noqa: B023
                errstate=errstate,
            )


def test_lanes_that_are_left_raise_nothing() -> None:
    x, y = RNG.uniform(0.1, 6, 64), RNG.uniform(-3, 3, 64)
    x[31::2], x[30::2], y[32::3] = np.inf, 0.0, 1e300
    with np.errstate(all="raise"):
        for size in range(31):
            assert_same(x[:size], y[:size])
    whole_results = np.array([0.0, np.inf, 1.0, 1e-300, 1e300, -1e-200, 7.0] * 20)
    with np.errstate(all="raise"):
        assert_same(whole_results, np.full(whole_results.size, 1.0))
        assert_same(whole_results, np.full(whole_results.size, 0.0))


def kinetics(x: Any, y: Any) -> Any:
    rate = 2.5 * (x / 3.0) ** y
    return rate * x**1.5 - np.power(y * y + 0.1, x - y) + x**3 - (-x) ** 5


def scaled(x: Any, y: Any) -> Any:
    return 2.0**y * x - 10 ** (y - x) + x**2 + np.power(x, 2.0) + x**0.5


@pytest.mark.parametrize("program", [kinetics, scaled])
@pytest.mark.parametrize("threads", [1, 2])
def test_in_fusion_groups(program: Any, threads: int) -> None:
    _core.set_option("fusion", 2)
    _core.set_option("threads", threads)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), globals()))
    for size in (5, 100, 1024, 5000, 300_000):
        for _ in range(8):
            x, y = RNG.uniform(0.1, 3, size), RNG.uniform(-3, 3, size)
            before, runs = counted(), _core.counter("groups_run")
            assert described(traced(x, y)) == described(program(x, y))
        if HAS_STEPS and size >= 100:
            assert _core.counter("groups_run") > runs
            assert (counted() - before)[0] >= 2 * size


@pytest.mark.parametrize("how", ["warn", "raise", "call"])
def test_flags_in_fusion_groups(how: str) -> None:
    _core.set_option("fusion", 2)
    traced = tagalong.trace(FunctionType(kinetics.__code__.replace(), globals()))
    for size in (100, 3000):
        for _ in range(5):
            traced(RNG.uniform(0.1, 3, size), RNG.uniform(-3, 3, size))
        for number in [*SPECIAL, 1e5, -0.5, 700.0, -700.0]:
            for place in range(2):
                operands = [RNG.uniform(0.1, 3, size), RNG.uniform(-3, 3, size)]
                operands[place][size // 2] = number
                seen = [Seen(lambda: run(*operands), {"all": how}) for run in (kinetics, traced)]  # noqa: B023
                expected, actual = (
                    (one.value is None or described(one.value), one.error, len(one.warnings), one.calls)
                    for one in seen
                )
                assert actual == expected, (number, place)


def test_blocks_left_to_libm() -> None:
    """Blocks of which most is left to libm are computed by NumPy after a few tries."""
    x, y = np.full(100 * BLOCK, -1.5), np.full(100 * BLOCK, 0.3)
    before = counted()
    with np.errstate(all="ignore"):
        assert_same(x, y)
    computed, left = counted() - before
    assert computed == 0
    assert left <= x.size / 4
