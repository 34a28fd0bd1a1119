"""Consecutive fusion groups, the later ones using reductions of the earlier ones, run as one multi-pass group.

Bits, flags, warnings and exceptions are those of eager execution, also where a later pass refuses its operands or
reuses the memory of an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_CODE
from chains_support import Function, both, check
from tagalong import _core

RANDOM = np.random.default_rng(11)
WARM_UP = 4
SIZES = (1, 2, 7, 8, 63, 1000, 1024, 1025, 5000, 8192 + 63, 2 * 8192 + 64, 40_000)


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


def many_passes(x):
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


def reduced_with_its_last_use(x):
    a = x + 1.0
    return a / np.max(a) - np.mean(a)


def summed_with_its_last_use(x):
    a = x * 0.5
    b = a * np.max(a)
    return b / np.sum(a) - np.min(b)


def reduced_along_with_its_last_use(x):
    a = x.reshape(-1, 1) * np.ones(3)
    b = a / np.max(a)
    return b - a.sum(axis=0), b - a.max(axis=1).min()


PROGRAMS = (
    softmax,
    softmax_in_one,
    normalised,
    squares_from_mean,
    both_seen,
    last_kept,
    three_sums,
    many_passes,
    in_place,
    into_the_operand,
    into_out,
    chosen,
    masked,
    along_rows,
    part_of_it,
    two_times,
    reduced_with_its_last_use,
    summed_with_its_last_use,
    reduced_along_with_its_last_use,
)
# The result of an earlier pass is not modified in a later one.
APART = (in_place,)
DEFAULT = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
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
        with np.errstate(over="ignore"):
            x *= np.exp2(1000.0)
        x[place] = 1e308
    elif kind == "signs":
        x -= 3.0
    return x


@pytest.fixture(autouse=True)
def fusion() -> None:
    _core.set_option("fusion", 2)  # also those that do not pay


def own(program: Function) -> Function:
    """The program traced, as a copy of its own."""
    return tagalong.trace(FunctionType(program.__code__.replace(), globals(), program.__name__))


def groups_run_in_passes(call: Callable[[], Any]) -> int:
    before = _core.counter("groups_in_passes")
    call()
    return _core.counter("groups_in_passes") - before


@pytest.mark.parametrize("program", PROGRAMS)
def test_bits_and_reports(program: Function) -> None:
    states: tuple[dict[str, Any], ...] = (
        DEFAULT,
        {"all": "ignore"},
        {"all": "raise"},
        {"all": "raise", "under": "ignore"},
    )
    traced = own(program)
    for _ in range(WARM_UP):
        traced(operands("ordinary", 500))
    for kind in KINDS:
        for size in SIZES:
            if size < 2 and program in (part_of_it,):
                continue
            given = operands(kind, size)
            for state in states:
                check(program, traced, lambda given=given: [given.copy()], state)


@pytest.mark.parametrize("program", PROGRAMS)
def test_is_one_multi_pass_group(program: Function) -> None:
    traced = own(program)
    for _ in range(WARM_UP):
        traced(operands("ordinary", 500))
    before = tagalong.stats(traced).hits
    for size in (10, 3000, 50_000):
        x = operands("ordinary", size)
        assert (groups_run_in_passes(lambda x=x: traced(x)) > 0) == (program not in APART), size
    assert tagalong.stats(traced).hits >= before + 3


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("program", [normalised, squares_from_mean, chosen, masked, part_of_it, two_times])
def test_other_dtypes(program: Function, dtype: Any) -> None:
    traced = own(program)
    for size in (2, 9, 1000, 1000, 1000, 1000, 5000, 30_000):
        x = (operands("ordinary", size) * 3.0).astype(dtype)
        check(program, traced, lambda x=x: [x.copy(order="K")], DEFAULT)


@pytest.mark.parametrize("program", PROGRAMS)
def test_other_layouts(program: Function) -> None:
    base = RANDOM.normal(size=(60, 90)) + 2.0
    traced = own(program)
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
            check(program, traced, lambda x=x: [x.copy(order="K")], DEFAULT)


def test_the_memory_is_handed_on() -> None:
    if not HAS_CODE:
        pytest.skip("operations are not fused on this machine")
    traced = own(softmax)
    x = operands("signs", 20_000)
    for _ in range(WARM_UP):
        traced(x)
    before = _core.counter("results_in_reused_buffers")
    results = [traced(x) for _ in range(3)]
    assert _core.counter("results_in_reused_buffers") == before + 3
    expected = softmax(x)
    for result in results:  # each one alone
        assert result.tobytes() == expected.tobytes() and result.flags.owndata
    assert len({result.ctypes.data for result in results}) == 3


def test_visible_memory_is_not_reused() -> None:
    for program in (both_seen, last_kept):
        traced = own(program)
        x = operands("ordinary", 20_000)
        for _ in range(WARM_UP):
            traced(x)
        results = traced(x)
        arrays = [item for item in results if isinstance(item, np.ndarray)]
        assert not any(np.shares_memory(one, two) for one in arrays for two in arrays if one is not two)


def used_for_the_last_time_by_another_result(x):
    root = np.sqrt(x * x)
    less = root - np.prod(root)
    least = less - np.min(less)
    return least, root * 2 + least.prod()


def used_for_the_last_time_by_two_results(x):
    square = x * x
    less = square - np.mean(square)
    least = less - np.min(less)
    more = np.abs(least * square) + square * 2
    return least, more + least.sum(), more


@pytest.mark.parametrize(
    "program", [used_for_the_last_time_by_another_result, used_for_the_last_time_by_two_results]
)
@pytest.mark.parametrize("size", [100, 3000, 20_000])
def test_memory_that_another_result_still_reads(program: Function, size: int) -> None:
    """A result is stored where it is computed, and operations behind it may read the same operand."""
    traced = own(program)
    x = np.random.default_rng(3).uniform(0.9, 1.1, size)
    for _ in range(WARM_UP + 2):
        check(program, traced, lambda: [x.copy()], DEFAULT)


def shifted_quotients(x):
    e = x * 1.0
    return (e - np.min(e)) * 0.5 / 3.0 - e


def test_a_block_that_is_left_open_is_computed_from_new_operands() -> None:
    """Fused code leaves NaNs to NumPy's loops; until then the operands must not have been overwritten."""
    traced = own(shifted_quotients)
    for _ in range(WARM_UP):
        traced(operands("ordinary", 20_000))
    for size in (5000, 20_000):
        x = operands("ordinary", size)
        x[size // 2] = np.inf
        for _ in range(20):
            check(shifted_quotients, traced, lambda x=x: [x], DEFAULT)
            ordinary = operands("ordinary", size)
            check(shifted_quotients, traced, lambda ordinary=ordinary: [ordinary], DEFAULT)


def test_later_passes_that_refuse_are_abandoned() -> None:
    """If the last pass has an error to report each time, the first ones become fusion groups of their own."""
    traced = own(normalised)
    with np.errstate(all="ignore", under="call"):
        calls: list[str] = []
        np.seterrcall(lambda *given: calls.append(given[0]))
        x = np.full(3000, 1e-320)
        x[0] = 1e10
        for _ in range(400):
            traced(x)
        assert len(calls) == 400
        assert groups_run_in_passes(lambda: traced(x)) == 0


def test_rows_of_threads() -> None:
    x = operands("signs", 1_000_000)
    traced = own(softmax)
    for _ in range(WARM_UP):
        assert traced(x).tobytes() == softmax(x).tobytes()
    assert groups_run_in_passes(lambda: traced(x)) == 1


def looked_at(x, seen):
    e = np.exp(x - np.max(x))
    s = np.sum(e)
    seen.append(e)
    return e / s


def test_names_with_other_references() -> None:
    traced = own(looked_at)
    x = operands("signs", 9000)
    for _ in range(WARM_UP + 2):
        mine: list[Any] = []
        eager: list[Any] = []
        assert traced(x, mine).tobytes() == looked_at(x, eager).tobytes()
        assert mine[0].tobytes() == eager[0].tobytes()


def test_explain_says_it_in_one_line() -> None:
    traced = own(softmax)
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


def test_more_results_than_one_pass_may_have() -> None:
    traced = own(many_results)
    for size in (50, 50, 50, 50, 3000):
        x = operands("ordinary", size)
        check(many_results, traced, lambda x=x: [x], DEFAULT)
    assert groups_run_in_passes(lambda: traced(x)) == 1


@pytest.mark.parametrize("mode", [1, 2])
def test_an_unused_quotient(mode: int) -> None:
    """An unused quotient is computed for its errors, and needs only the memory of a block."""
    _core.set_option("fusion", mode)
    for source in (
        "w = x * 0.5 + 1\n    v = w / np.prod(w)\n    return w",
        "s = x.sum()\n    v = (x + 1.0) * 2.0\n    u = v / s\n    return v",
        "u = x / np.max(x)",
        "u = x / 3.0\n    return np.sum(x)",
    ):
        eager, traced = both(f"def f(x):\n    {source}\n")
        for shape in ((70, 520), (36_400,), (10,), (1025,)):
            for errstate in ({"all": "ignore"}, {"all": "warn"}, {"all": "raise"}):
                for _ in range(4):
                    check(eager, traced, lambda shape=shape: [np.full(shape, 1.25)], errstate)
                check(eager, traced, lambda shape=shape: [np.zeros(shape)], errstate)
