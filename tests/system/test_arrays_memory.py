"""Memory in the array kernels: temporaries computed into, elision, in-place operators, references, threads."""

from __future__ import annotations

import contextvars
import gc
import operator
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import (
    ERRSTATES,
    LARGE,
    NUMBER_OPERATORS,
    NUMPY_2,
    Seen,
    at_once,
    compare_runs,
    described,
    eval_binary,
    sample,
)
from conftest import RunPython
from tagalong import _core
from tagalong._core import _UfuncSite


def test_errors_of_reused_temporaries() -> None:
    """The result has overwritten the input; the report must be eager's nevertheless."""
    site = _UfuncSite()
    for errstate in ERRSTATES:
        for value in (0.0, 1.0):
            expected = Seen(lambda value=value: 1.0 / (np.zeros(5) + value), errstate)
            actual = Seen(lambda value=value: site.binary(11, [1.0, np.zeros(5) + value], 2), errstate)
            assert actual.comparable() == expected.comparable()
    assert site.reused == site.direct == 2 * len(ERRSTATES)


@pytest.mark.parametrize("code", "?blLfdFDeg")
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "&", "**", "%"])
@pytest.mark.parametrize("size", [7, LARGE])
def test_temporaries(symbol: str, code: str, size: int) -> None:
    """Operands that eager NumPy may overwrite, on the left, on the right, on both sides."""
    number, function, inplace = NUMBER_OPERATORS[symbol]
    kind = "bits" if code in "fdFD" else "ordinary"
    left, right = sample(code, (size,), kind), sample(code, (size,), kind)
    if symbol == "**" and np.dtype(code).kind in "iu":
        right = abs(right) % 3
    expressions: list[tuple[Callable[[], Any], Callable[[], list[Any]], int]] = [
        (lambda: function(left, right), lambda: [left, right], 0),
        (lambda: eval_binary(symbol, left.copy, None, None, right), lambda: [left.copy(), right], 1),
        (lambda: eval_binary(symbol, None, left, right.copy, None), lambda: [left, right.copy()], 2),
        (
            lambda: eval_binary(symbol, left.copy, None, right.copy, None),
            lambda: [left.copy(), right.copy()],
            3,
        ),
        (lambda: function(left, right), lambda: [left.copy(), right.copy()], 3 << 8),
    ]
    for eager, operands, temporaries in expressions:
        compare_runs(
            eager,
            lambda site, operands=operands, temporaries=temporaries: site.binary(
                number, operands(), temporaries
            ),
            errstate={"all": "ignore"},
            must_be_direct=False,
            label=f"{symbol} {code} {size} {temporaries}",
        )
        kept: list[Any] = []

        def kept_alive(
            site: _UfuncSite, operands: Callable[[], list[Any]] = operands, bits: int = temporaries
        ) -> Any:
            items = operands()
            kept.extend([*items, *(item.tobytes() for item in items)])  # noqa: B023 - used at once
            return site.binary(number, items, bits)

        # Eager execution does not compute into an operand that has another owner, either.
        held = expressions[0][0]
        site = compare_runs(held, kept_alive, errstate={"all": "ignore"}, must_be_direct=False)
        assert site.reused == 0
        assert [item.tobytes() for item in kept[:2]] == kept[2:]
    for scalar in (2, 0.5, 1.5 - 2j, np.float32(2), True):
        for bits, eager in [
            (1, lambda scalar=scalar: eval_binary(symbol, left.copy, None, None, scalar)),
            (2, lambda scalar=scalar: eval_binary(symbol, None, scalar, left.copy, None)),
        ]:
            compare_runs(
                eager,
                lambda site, scalar=scalar, bits=bits: site.binary(
                    number, [left.copy(), scalar] if bits == 1 else [scalar, left.copy()], bits
                ),
                errstate={"all": "ignore"},
                must_be_direct=False,
                label=f"{symbol} {code} {size} {scalar!r} {bits}",
            )


@pytest.mark.parametrize("code", ["f", "d", "F", "D"])
def test_elision_shows_in_the_payload_of_nans(code: str) -> None:
    """If both operands are NaN the first one's payload wins, and elision exchanges commutative operands."""
    real = code.lower()
    unsigned = {"f": "I", "d": "L"}[real]
    first = np.full(4 * LARGE, np.nan, dtype=real)
    second = (first.view(unsigned) + 1).view(real)
    left, right = first.view(code), second.view(code)
    cases: list[tuple[Callable[[], Any], list[Any], int]] = [
        (lambda: eval_binary("+", None, left, None, right), [left, right], 0),
        (lambda: eval_binary("+", None, left, right.copy, None), [left, right.copy()], 2),
        (lambda: eval_binary("+", left.copy, None, right.copy, None), [left.copy(), right.copy()], 3),
        (lambda: eval_binary("+", left.copy, None, None, right), [left.copy(), right], 1),
    ]
    seen = set()
    for eager, operands, temporaries in cases:
        expected = described(eager())
        seen.add(expected)
        # eager execution does not compute into an operand that has another owner, either
        assert described(_UfuncSite().binary(0, list(operands), temporaries)) == described(cases[0][0]())
        while operands:
            items = [operands.pop(0), operands.pop(0)]
            site = _UfuncSite()
            assert described(site.binary(0, items, temporaries)) == expected
        assert site.direct == 1
    if len(seen) == 1:
        pytest.skip("NumPy does not elide temporaries in this process (sanitizer?)")
    assert len(seen) == 2


@pytest.mark.parametrize("symbol", ["+", "*", "-", "/"])
@pytest.mark.parametrize("code", ["f", "d", "F", "D"])
def test_elision_with_scalars(code: str, symbol: str) -> None:
    """Whether a NaN scalar or a NaN temporary comes first, for every kind of scalar on either side."""
    unsigned = {"f": "I", "d": "L"}[code.lower()]
    other_nan = (np.full(4 * LARGE, np.nan, dtype=code.lower()).view(unsigned) + 1).view(code)
    scalars: list[Any] = [float("nan"), complex("nan+nanj"), 2, True, np.float16("nan"), np.bool_(True)]
    for dtype in "fdFD":
        scalars += [np.dtype(dtype).type("nan"), np.array("nan", dtype=dtype)]
    direct = 0
    for scalar in scalars:
        for bits, eager, operands in [
            (1, (other_nan.copy, None, None, scalar), lambda: [other_nan.copy(), scalar]),
            (2, (None, scalar, other_nan.copy, None), lambda: [scalar, other_nan.copy()]),
            (0, (None, scalar, None, other_nan), lambda: [scalar, other_nan]),
        ]:
            site = compare_runs(
                lambda: eval_binary(symbol, *eager),
                lambda site: site.binary(NUMBER_OPERATORS[symbol][0], operands(), bits),
                errstate={"all": "ignore"},
                must_be_direct=False,
                label=f"{symbol} {code} {scalar!r} {bits}",
            )
            direct += site.direct
    assert direct >= 9


@pytest.mark.parametrize("symbol", ["+", "*", "-", "/"])
def test_elision_where_the_direct_path_does_not_go(symbol: str) -> None:
    """Complex temporaries with real arrays, other orders, broadcasts: eager's in-place operation is used."""
    number, function, _ = NUMBER_OPERATORS[symbol]
    shape = (200, 200)
    left = sample("D", shape, "ordinary")
    for right in [
        sample("d", shape, "ordinary"),
        np.asfortranarray(left),
        sample("f", shape, "ordinary"),
        left[0],
        left[:, :1],
        3,
    ]:
        for keep in (False, True):
            site = _UfuncSite()
            kept: list[Any] = []
            for bits, operands, eager in [
                (
                    1,
                    lambda right=right: [left.copy(), right],
                    lambda right=right: eval_binary(symbol, left.copy, None, None, right),
                ),
                (
                    2,
                    lambda right=right: [right, left.copy()],
                    lambda right=right: eval_binary(symbol, None, right, left.copy, None),
                ),
            ]:
                items = operands()
                kept.extend(items if keep else [])
                result = site.binary(number, items, bits)
                if result is NotImplemented:
                    result = function(*operands()) if bits == 1 else function(*operands())
                assert described(result) == described(eager()), (right, bits, keep)


def test_small_temporaries_are_reused() -> None:
    """The memory of a dead intermediate result is used for the next one, which is not visible."""
    site = _UfuncSite()
    for code in "bhilfd":
        for bits, operands in [
            (1, lambda c=code: [np.ones(5, c), np.ones(5, c)]),
            (1 << 9, lambda c=code: [3, np.ones(5, c)]),
        ]:
            reused = site.reused
            result = site.binary(0, operands(), bits)
            assert site.reused == reused + 1
            assert described(result) == described(operator.add(*operands()))
            assert sys.getrefcount(result) == 2


def test_memory_that_is_not_reused() -> None:
    """Views, arrays with other references, other dtypes, read-only arrays, arrays that do not own ordinary memory."""
    base = np.ones(8)
    held = np.ones(8)
    weakly = np.ones(8)
    reference = weakref.ref(weakly)
    frozen = np.ones(8)
    frozen.flags.writeable = False
    site = _UfuncSite()

    def take(items: list[Any]) -> None:
        result = site.binary(5, items, 1)
        assert result.tolist() == [2.0] * 8

    take([base[:], 2.0])
    take([held, 2.0])
    operands = [frozen, 2.0]
    del frozen
    take(operands)
    operands = [weakly, 2.0]
    del weakly
    take(operands)
    assert site.reused == 0 and site.direct == 4
    assert base.tolist() == held.tolist() == [1.0] * 8
    assert reference() is None
    column = np.ones((8, 4)).T.copy("K")
    assert described(site.binary(5, [np.ones((8, 4)).T.copy("K"), 2.0], 1)) == described(column * 2.0)
    assert site.call(np.equal, [np.ones(4), np.ones(4)], 3).dtype == bool
    assert site.call(np.tanh, [np.ones(4)], 1) is not None
    assert site.reused == 1


def test_inplace_overlap_is_left_to_numpy() -> None:
    """Only identical or disjoint memory is handled directly."""
    site = _UfuncSite()
    buffer = np.arange(20.0)
    for left, right, direct in [
        (buffer[:10], buffer[:10], 1),
        (buffer[:10], buffer[10:], 1),
        (buffer[:10], buffer[1:11], 0),
        (buffer[1:11], buffer[:10], 0),
        (buffer[:10], buffer[9::-1], 0),
        (buffer[::2], buffer[::2], 1),
        (buffer[::2], buffer[1::2], 0),
        (buffer[::-1], buffer[::-1], 0),
    ]:
        before = site.direct
        saved = buffer.copy()
        expected = saved.copy()
        outcome = site.binary(13, [left, right], 0)
        assert site.direct - before == direct
        if direct:
            assert outcome is left
            offsets = [
                (a.__array_interface__["data"][0] - buffer.__array_interface__["data"][0]) // 8
                for a in (left, right)
            ]
            views = [
                np.lib.stride_tricks.as_strided(expected[o:], a.shape, a.strides)
                for o, a in zip(offsets, (left, right), strict=True)
            ]
            views[0] += views[1]
            assert buffer.tolist() == expected.tolist()
        else:
            assert buffer.tolist() == saved.tolist()


def test_inplace_keeps_identity_and_refuses() -> None:
    """The result is the left operand; a read-only operand goes to the general call unchanged."""
    site = _UfuncSite()
    array = np.arange(4.0)
    assert site.binary(13, [array, 1.0], 0) is array
    assert array.tolist() == [1.0, 2.0, 3.0, 4.0]
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    integers = np.arange(4)
    for left, right in [
        (frozen, 1.0),
        (integers, 1.5),
        (np.ones(3, "f"), np.ones(3)),
        (np.ones(3), np.ones((2, 3))),
        (np.ones((2, 3)), np.ones(3)),
        (np.array(1.0), np.ones(1)),
        (np.broadcast_to(np.ones(1), 3), 1.0),
    ]:
        before = left.tobytes()
        assert site.binary(13, [left, right], 0) is NotImplemented
        assert left.tobytes() == before
    assert site.direct == 1
    # if the left operand is not an array there is no in-place operator
    assert site.binary(13, [2.0, np.ones(3)], 0).tolist() == [3.0, 3.0, 3.0]


def test_references_are_given_back() -> None:
    """Operands, dtypes and results have the same reference counts as before."""
    site = _UfuncSite()
    array, other = np.arange(5.0), np.arange(5.0) + 1
    zeros = np.zeros(5)  # in some versions np.zeros itself leaks a reference to its dtype
    things = [array, other, array.dtype, np.dtype(bool), np.add]

    def rounds() -> None:
        for _ in range(500):
            site.binary(0, [array, other], 3)
            site.binary(0, [array, 1.0], 0)
            site.binary(13, [array, 1.0], 0)
            site.compare(0, [array, 1], 0)
            site.call(np.sin, [array], 0)
            site.binary(0, [array, "no"], 0)
            site.binary(0, [array.copy(), other], 1)
            with np.errstate(all="raise"):
                try:
                    site.binary(11, [other, zeros], 0)
                except FloatingPointError:
                    pass

    rounds()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    blocks = sys.getallocatedblocks()
    rounds()
    gc.collect()
    assert [sys.getrefcount(thing) for thing in things] == before
    assert sys.getallocatedblocks() - blocks < 50


def test_threads_share_a_site() -> None:
    """Long loops release the GIL; results of several threads are not mixed up."""
    site = _UfuncSite()
    arrays = [np.full(60_000, float(i)) for i in range(4)]
    failures: list[str] = []

    def work(index: int) -> None:
        for _ in range(100):
            result = site.binary(5, [arrays[index], float(index)], 0)
            if result[0] != index * index or result[-1] != index * index:
                failures.append("product")
            if not (site.call(np.sin, [arrays[index]], 0) == np.sin(arrays[index])).all():
                failures.append("sine")

    at_once(4, work)
    assert not failures
    assert site.fallback == 0 and site.direct == 800


def test_memory_of_large_results_is_taken_by_the_next_ones() -> None:
    """Memory of a dead array is used, and NumPy's memory handler cannot tell the difference."""

    def f(x, y):
        return x * y + 1.0 - y

    tagalong.trace(f)
    variables = len(contextvars.copy_context())
    x = np.linspace(1.0, 2.0, 100_000)
    for _ in range(6):
        f(x, x)
    first, second = f(x, x), f(x, x)
    assert not np.shares_memory(first, second)
    place = first.ctypes.data
    del first
    third = f(x, x)
    assert third.ctypes.data == place
    assert third.tobytes() == second.tobytes() == (x * x + 1.0 - x).tobytes()
    assert third.flags.owndata and third.base is None
    assert len(contextvars.copy_context()) == variables
    third.resize(200_000, refcheck=False)
    assert third[:100_000].tobytes() == second.tobytes() and not third[100_000:].any()
    name = (np._core if NUMPY_2 else np.core).multiarray.get_handler_name
    assert name(third) == name(second) == name(x.copy())


def test_very_large_results_leave_their_memory_too() -> None:
    """The next result may get memory whose pages the system has taken back meanwhile."""

    def f(x, y):
        return x * y + 1.0 - y

    _core.set_option("retire_after", 0)
    traced = tagalong.trace(f)
    for size, is_kept in ((5_000_000, True), (17_000_000, False)):  # 40 and 136 MB
        x = np.linspace(1.0, 2.0, size)
        expected = (x * x + 1.0 - x).tobytes()
        for _ in range(6):
            traced(x, x)
        before = _core.counter("kept_memory_taken")
        for _ in range(3):
            assert traced(x, x).tobytes() == expected
        assert (_core.counter("kept_memory_taken") > before) == is_kept
        first, second = traced(x, x), traced(x, x)
        assert not np.shares_memory(first, second)
        assert first.tobytes() == second.tobytes() == expected


@pytest.mark.not_sanitized("their allocator keeps freed memory for a while")
def test_memory_that_is_kept_is_given_back_where_there_is_no_other(run_python: RunPython) -> None:
    """An allocation that fails is tried again after the kept memory has been freed."""
    code = """
import resource
import numpy as np, tagalong
from tagalong import _core
_core.set_option("retire_after", 0)
_core.set_option("threads", 1)
def f(x, y):
    return x * y + 1.0 - y
traced = tagalong.trace(f)
x = np.linspace(1.0, 2.0, 8_000_000)
for _ in range(6):
    traced(x, x)
before = _core.counter("kept_memory_taken")
traced(x, x)
assert _core.counter("kept_memory_taken") > before
small = np.linspace(1.0, 2.0, 7_500_000)
expected = small * small + 1.0 - small
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (16 << 20),) * 2)
print(np.array_equal(traced(small, small), expected))
"""
    done = run_python("-c", code)
    assert done.stdout.strip() == "True", done.stderr
