"""Functions that NumPy takes from libm, most of which our own loops compute: the same bits and warnings."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_VECTORS, compare_runs, described, misaligned
from libm_support import FUNCTIONS, LOOPS, RNG, SPECIAL, VALUES, suited
from tagalong import _core
from tagalong._core import _UfuncSite

DEAD = 1 << 8
BLOCK = 1024  # number of elements computed at once


def counted() -> tuple[int, int]:
    computed, left = _core.counter("glibc_computed"), _core.counter("glibc_left")
    return computed, left


def assert_same(ufunc: np.ufunc, x: np.ndarray) -> None:
    result = _UfuncSite().call(ufunc, [x], 0)
    expected = ufunc(x)
    wrong = np.flatnonzero(result.view(np.int64) != expected.view(np.int64))
    assert wrong.size == 0, [float(item).hex() for item in x[wrong][:5]]


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("kind", [*VALUES])
def test_bits(ufunc: np.ufunc, kind: str) -> None:
    x = suited(ufunc, VALUES[kind]())
    usual = suited(ufunc, RNG.uniform(-9, 9, max(x.size, 16 * BLOCK)))
    # Blocks of which most is left to libm are not tried again soon.
    mixed = np.where(RNG.random(x.size) < 0.35, x, usual[: x.size])
    with np.errstate(all="ignore"):
        for part in np.array_split(x, 10):
            assert_same(ufunc, part)
        assert_same(ufunc, usual[: 16 * BLOCK])
        before = counted()
        for part in np.array_split(mixed, 10):
            assert_same(ufunc, part)
    computed, left = (now - then for now, then in zip(counted(), before, strict=True))
    assert ufunc not in LOOPS or (computed + left == x.size and computed > 0.3 * x.size)


SCALES = {np.exp: (1.0, 100.0, 511.0), np.log: (1.0, 100.0, 1e300), np.arcsin: (0.1, 0.9, 1.0)}


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_how_many_are_left_over(ufunc: np.ufunc) -> None:
    """Of ordinary numbers, none is left to libm."""
    if ufunc not in LOOPS:
        pytest.skip("no loops of ours here")
    for scale in SCALES.get(ufunc, (3.2, 100.0, 2.0**26)):
        x = suited(ufunc, RNG.uniform(-scale, scale, 64 * BLOCK))
        before = counted()
        assert_same(ufunc, x)
        computed, left = (now - then for now, then in zip(counted(), before, strict=True))
        assert computed + left == x.size
        assert left == 0


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_lengths_and_places(ufunc: np.ufunc) -> None:
    x = suited(ufunc, RNG.uniform(-20, 20, 4000))
    x[::13] = 1.0 if ufunc is np.log else 0.0
    for size in [*range(71), *range(1016, 1033), 2047, 2048, 2049, 3000]:
        for offset in range(0, 9, 3):
            assert_same(ufunc, x[offset : offset + size])
    unaligned = misaligned(x[:200])
    compare_runs(
        lambda: ufunc(unaligned), lambda site: site.call(ufunc, [unaligned], 0), must_be_direct=False
    )
    for strided in (
        x[::2],
        x[::-1],
        x[::-3],
        x[:3600].reshape(60, 60).T,
        np.asfortranarray(x.reshape(40, 100)),
    ):
        compare_runs(lambda: ufunc(strided), lambda site: site.call(ufunc, [strided], 0))  # noqa: B023


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_into_the_operand(ufunc: np.ufunc) -> None:
    """The last vector overlaps elements that have already been computed in place."""
    x = suited(ufunc, RNG.uniform(-20, 20, 3000))
    x[5::11] = np.nan
    for size in (*range(40), 1000, *range(BLOCK - 8, BLOCK + 20), 2 * BLOCK + 7, 3000):
        site = _UfuncSite()
        result = site.call(ufunc, [x[:size] + 0.0], DEAD)
        assert described(result) == described(ufunc(x[:size] + 0.0))
        assert ufunc not in LOOPS or size == 0 or site.reused == 1


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("how", ["warn", "raise", "call", "ignore"])
def test_special_numbers_and_flags(ufunc: np.ufunc, how: str) -> None:
    signalling = np.array([0x7FF0000000000001, 0xFFF4000000000000], np.uint64).view(np.float64)
    payload = np.array([0x7FF8000000000123, 0xFFF8000000000456], np.uint64).view(np.float64)
    for size in (16, 17, 40, 1500):
        compared = [*SPECIAL, *signalling, *payload]
        for number in [*range(len(compared)), None]:
            x = suited(ufunc, RNG.uniform(-6, 6, size))
            if number is None:
                x[:] = np.resize(np.array(compared), size)  # keeps the bits
            else:
                x[size - 3] = 0.0
                x.view(np.int64)[size - 3] = np.array(compared[number : number + 1]).view(np.int64)[0]
            compare_runs(
                lambda: ufunc(x),  # noqa: B023
                lambda site: site.call(ufunc, [x], 0),  # noqa: B023
                errstate={"all": how},
                label=f"{size} {number}",
            )


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_lanes_that_are_not_there_raise_nothing(ufunc: np.ufunc) -> None:
    """Elements read beyond the end, or left to libm, must not take part in the computation."""
    x = suited(ufunc, RNG.uniform(-6, 6, 64))
    x[30:] = np.nan if ufunc in (np.exp, np.log) else np.inf
    x[31::2] = {np.exp: 1e300, np.log: -1.0}.get(ufunc, np.inf)
    with np.errstate(all="raise"):
        for size in range(31):
            assert_same(ufunc, x[:size])


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_neighbours_of_all_magnitudes_raise_nothing(ufunc: np.ufunc) -> None:
    """An element that is computed by another path must not change the flags of its neighbours."""
    powers = np.ldexp(1.0, np.arange(-1020, 1021, 4))
    exponents = np.log(powers) * 0.7  # results of exp that are denormal or overflow must set flags
    beside = exponents if ufunc is np.exp else powers
    for usual in (1.0, 0.99, 1.01, 1.5, 0.25, 0.0 if ufunc is not np.log else 2.0):
        x = np.full(2 * beside.size, usual)
        x[::2] = beside
        x[1::7] = usual
        x = suited(ufunc, x)
        with np.errstate(all="raise"):
            assert_same(ufunc, x)


def waves(x: Any, y: Any) -> Any:
    a = np.sin((x - y) * 0.5)
    return a * a + np.cos(x) * np.cos(y) * np.sin(x + y)


def growth(x: Any, y: Any) -> Any:
    a = np.exp((x - y) * 0.5) + 1.0
    return np.log(a * a) * np.exp(-x * x) - np.log(np.abs(y) + 2.0)


def arcs(x: Any, y: Any) -> Any:
    a = np.arcsin((x - y) / 6.0)
    return a * a - np.arcsin(np.sqrt(x * x) / 3.0) * np.arcsin(y / 24.0) + np.arcsin(-x * 0.25)


@pytest.mark.parametrize("program", [waves, arcs, growth])
@pytest.mark.parametrize("threads", [1, 2])
def test_in_fusion_groups(program: Any, threads: int) -> None:
    is_near = {waves: np.sin, arcs: np.arcsin, growth: np.exp}[program] in LOOPS
    is_fused = program is growth and not HAS_VECTORS  # see test_arrays_libm_fused.py
    _core.set_option("fusion", 2)
    _core.set_option("threads", threads)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), globals()))
    for size in (5, 100, 1024, 5000, 400_000):
        for _ in range(8):
            x, y = RNG.uniform(-3, 3, size), RNG.uniform(-3, 3, size)
            x[size // 2] = y[size // 3] = 0.0
            before = counted()
            runs = _core.counter("groups_run")
            assert described(traced(x, y)) == described(program(x, y))
        by_loops = counted()[0] - before[0]
        if is_near and size >= 100:
            assert _core.counter("groups_run") > runs
            assert by_loops == 0 if is_fused else by_loops > 3 * size


def test_blocks_left_to_libm() -> None:
    """Blocks of which most is left to libm are computed by NumPy after a few tries."""
    huge = np.full(100 * BLOCK, 1e300)
    before = counted()
    assert_same(np.sin, huge)
    assert counted()[0] == before[0]
    assert counted()[1] - before[1] <= huge.size / 4
