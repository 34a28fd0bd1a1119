"""Regions in a row whose later ones take what reductions of the earlier ones give: one region, with the bits, flags,
warnings and exceptions of eager execution, also where a later one refuses or a result has the memory of an operand."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import _core

RANDOM = np.random.default_rng(11)
WARM_UP = 4
SIZES = (1, 2, 7, 8, 63, 1000, 1024, 1025, 5000, 40_000)
HAS_VECTORS = "avx512dq" in Path("/proc/cpuinfo").read_text("ascii")


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def softmax_in_one(x):
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def normalised(x):
    return x / np.sum(x)


def squares_from_mean(x):
    d = x - np.mean(x)
    return np.sum(d * d)


def both_seen(x):
    e = x * 0.5 + 1.0
    s = np.sum(e)
    return e, s, e / s


def last_kept(x):
    e = x * 2.0
    scaled = e / np.sum(e)
    return e - 1.0, scaled - e


def three_sums(x):
    a = x - x.sum()
    b = a / a.min()
    c = b * b - b.max()
    return c + a


def many_sweeps(x):
    for _ in range(6):
        x = x * 0.5 - np.max(x)
    return x


def in_place(x):
    e = x + 1.0
    e /= np.sum(e)
    e -= np.max(e)
    return e


def into_the_operand(x):
    x[:] = x / np.sum(x)
    return x


def into_out(x):
    out = np.zeros_like(x)
    np.divide(x, np.sum(x), out=out)
    return out


def chosen(x):
    y = np.where(x > np.mean(x), x, np.mean(x))
    return y - np.min(y)


def masked(x):
    return (x > x.mean()) & (x < x.max())


def along_rows(x):
    columns = x - x.mean(axis=0)
    return columns / columns.max()


def part_of_it(x):
    inner = x[1:] - x[:-1]
    return inner / np.max(inner) + x[1:]


def two_times(x):
    s = np.sum(x)
    return x / s, x * s, x - s


PROGRAMS = (
    softmax,
    softmax_in_one,
    normalised,
    squares_from_mean,
    both_seen,
    last_kept,
    three_sums,
    many_sweeps,
    in_place,
    into_the_operand,
    into_out,
    chosen,
    masked,
    along_rows,
    part_of_it,
    two_times,
)
NOT_ALWAYS = (into_the_operand, along_rows, in_place, into_out)  # in sweeps
KINDS = ("ordinary", "zeros", "subnormal quotients", "a NaN", "infinite", "overflows", "signs")


def operands(kind: str, size: int) -> np.ndarray:
    x = RANDOM.normal(size=size) + 3.0
    place = int(RANDOM.integers(size))
    if kind == "zeros":
        x[RANDOM.random(size) < 0.4] = 0.0
        x[place] = -0.0
    elif kind == "subnormal quotients":
        x[: size // 2] *= 1e-308
        x[place] = 1e12
    elif kind == "a NaN":
        x[place] = np.frombuffer(np.uint64(0xFFF8000000000456).tobytes())[0]
    elif kind == "infinite":
        x[place] = np.inf if size % 2 else -np.inf
    elif kind == "overflows":
        x *= np.exp2(1000.0)
        x[place] = 1e308
    elif kind == "signs":
        x -= 3.0
    return x


@contextmanager
def own(program: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    yield tagalong.trace(FunctionType(program.__code__.replace(), globals(), program.__name__))


def flattened(result: Any) -> list[Any]:
    return [item for part in result for item in flattened(part)] if isinstance(result, tuple) else [result]


def outcome(program: Callable[..., Any], x: np.ndarray, state: dict[str, Any]) -> tuple[Any, ...]:
    """All that can be seen of a call: results with their flags and strides, the operand, warnings, the exception."""
    with warnings.catch_warnings(record=True) as reports, np.errstate(**state):
        warnings.simplefilter("always")
        try:
            results: list[Any] = flattened(program(x))
        except FloatingPointError as error:
            results = [str(error)]
    seen = [
        (type(item), item)
        if isinstance(item, str)
        else (
            type(item),
            item.dtype,
            item.tobytes(),
            item.shape,
            item.strides,
            str(item.flags),
            item.base is None,
        )
        for item in results
    ]
    return seen, x.tobytes(), [(report.category, str(report.message)) for report in reports]


def in_sweeps(call: Callable[[], Any]) -> int:
    before = _core._regions_in_sweeps()
    call()
    return _core._regions_in_sweeps() - before


@pytest.mark.parametrize("program", PROGRAMS)
def test_bits_and_reports(program: Callable[..., Any]) -> None:
    states: tuple[dict[str, Any], ...] = (
        {},
        {"all": "ignore"},
        {"all": "raise"},
        {"all": "raise", "under": "ignore"},
    )
    with own(program) as traced:
        for _ in range(WARM_UP):
            traced(operands("ordinary", 500))
        for kind in KINDS:
            for size in SIZES:
                if size < 2 and program in (part_of_it,):
                    continue
                given = operands(kind, size)
                for state in states:
                    mine, eager = given.copy(), given.copy()
                    assert outcome(traced, mine, state) == outcome(program, eager, state), (kind, size, state)


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program not in NOT_ALWAYS])
def test_is_one_region(program: Callable[..., Any]) -> None:
    with own(program) as traced:
        for _ in range(WARM_UP):
            traced(operands("ordinary", 500))
        before = tagalong.stats(traced).hits
        for size in (10, 3000, 50_000):
            x = operands("ordinary", size)
            assert in_sweeps(lambda x=x: traced(x)) > 0, size
        assert tagalong.stats(traced).hits >= before + 3


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("program", [normalised, squares_from_mean, chosen, masked, part_of_it, two_times])
def test_other_dtypes(program: Callable[..., Any], dtype: Any) -> None:
    with own(program) as traced:
        for size in (2, 9, 1000, 1000, 1000, 1000, 5000, 30_000):
            x = (operands("ordinary", size) * 3.0).astype(dtype)
            assert_same(traced, program, x)


def assert_same(traced: Callable[..., Any], program: Callable[..., Any], x: np.ndarray) -> None:
    results = []
    for function in (traced, program):
        try:
            results.append(outcome(function, x.copy(order="K"), {}))
        except TypeError as error:  # differences of bools
            results.append((str(error),))
    assert results[0] == results[1], (program.__name__, x.dtype, x.shape, x.strides)


@pytest.mark.parametrize("program", PROGRAMS)
def test_other_layouts(program: Callable[..., Any]) -> None:
    base = RANDOM.normal(size=(60, 90)) + 2.0
    with own(program) as traced:
        for _ in range(3):
            for x in (
                base,
                np.asfortranarray(base),
                base.T,
                base[::2, ::-1],
                base[:, :1],
                base[5:, 3:],
                base.ravel()[::3],
                base.reshape(6, 10, 90),
                np.asfortranarray(base.reshape(6, 10, 90)),
                np.broadcast_to(base[0], (7, 90)).copy(),
                base[:0] if program in (normalised, two_times) else base,
            ):
                assert_same(traced, program, x)


def test_the_memory_is_handed_on() -> None:
    if not HAS_VECTORS:
        pytest.skip("operations are not joined on this machine")
    with own(softmax) as traced:
        x = operands("signs", 20_000)
        for _ in range(WARM_UP):
            traced(x)
        before = _core._results_donated()
        results = [traced(x) for _ in range(3)]
        assert _core._results_donated() == before + 3
        expected = softmax(x)
        for result in results:  # each its own
            assert result.tobytes() == expected.tobytes() and result.flags.owndata
        assert len({result.ctypes.data for result in results}) == 3


def test_what_is_seen_is_not_handed_on() -> None:
    for program in (both_seen, last_kept):
        with own(program) as traced:
            x = operands("ordinary", 20_000)
            for _ in range(WARM_UP):
                traced(x)
            results = flattened(traced(x))
            arrays = [item for item in results if isinstance(item, np.ndarray)]
            assert not any(np.shares_memory(one, two) for one in arrays for two in arrays if one is not two)


def shifted_quotients(x):
    e = x * 1.0
    return (e - np.min(e)) * 0.5 / 3.0 - e


def test_a_block_that_is_left_open_is_computed_from_new_operands() -> None:
    """What is joined leaves NaNs open; then nothing of the operands may have been overwritten."""
    with own(shifted_quotients) as traced:
        for _ in range(WARM_UP):
            traced(operands("ordinary", 20_000))
        for size in (5000, 20_000):
            x = operands("ordinary", size)
            x[size // 2] = np.inf
            for _ in range(20):
                assert outcome(traced, x, {}) == outcome(shifted_quotients, x, {})
                ordinary = operands("ordinary", size)
                assert outcome(traced, ordinary, {}) == outcome(shifted_quotients, ordinary, {})


def test_later_sweeps_that_refuse_are_given_up() -> None:
    """Where the last one reports something each time, the first ones are regions of their own."""
    with own(normalised) as traced, np.errstate(all="ignore", under="call"):
        calls: list[str] = []
        np.seterrcall(lambda *given: calls.append(given[0]))
        x = np.full(3000, 1e-320)
        x[0] = 1e10
        for _ in range(400):
            traced(x)
        assert len(calls) == 400
        assert in_sweeps(lambda: traced(x)) == 0


def test_rows_of_threads() -> None:
    x = operands("signs", 1_000_000)
    with own(softmax) as traced:
        for _ in range(WARM_UP):
            assert traced(x).tobytes() == softmax(x).tobytes()
        assert in_sweeps(lambda: traced(x)) == 1


def looked_at(x, seen):
    e = np.exp(x - np.max(x))
    s = np.sum(e)
    seen.append(e)
    return e / s


def test_names_that_somebody_holds() -> None:
    with own(looked_at) as traced:
        x = operands("signs", 9000)
        for _ in range(WARM_UP + 2):
            mine: list[Any] = []
            eager: list[Any] = []
            assert traced(x, mine).tobytes() == looked_at(x, eager).tobytes()
            assert mine[0].tobytes() == eager[0].tobytes()


def test_explain_says_it_in_one_line() -> None:
    with own(softmax) as traced:
        x = operands("signs", 100)
        for _ in range(WARM_UP):
            traced(x)
        assert "5 array operations as one" in tagalong.explain(traced)


def many_results(x):
    a = x + 1.0
    b = a * 2.0
    c = b - 1.0
    d = c * 0.5 + a
    m = np.max(d)
    e = d - m
    f = e * 2.0
    g = f + a
    h = g - b
    n = np.min(h)
    i = h - n
    j = i * 0.5
    k = j + c
    return a, b, c, d, m, e, f, g, h, n, i, j, k


def test_more_results_than_one_sweep_may_have() -> None:
    with own(many_results) as traced:
        for size in (50, 50, 50, 50, 3000):
            x = operands("ordinary", size)
            assert outcome(traced, x, {}) == outcome(many_results, x, {})
        assert in_sweeps(lambda: traced(x)) == 1
