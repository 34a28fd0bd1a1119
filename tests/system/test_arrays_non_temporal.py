"""Large results written past the caches: the same bits, warnings and errors, with one thread or several."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from arrays_support import at_once
from chains_support import both, check, compare_program
from tagalong import _core
from test_arrays_vectors import ARE_USED

# Multiples of a vector and of a block, and others; all more than a block; one part and several.
SIZES = (1025, 4103, 24_596, 100_003)
LONG_BLOCK = 8192
LONG_PART = 32_768  # elements of a row of two-dimensional arrays


@pytest.fixture(params=[1, 2, 3], autouse=True)
def threads(request: pytest.FixtureRequest) -> int:
    _core.set_option("fusion", 2)
    _core.set_option("threads", request.param)
    _core.set_option("min_part", 4096)
    _core.set_option("min_non_temporal", 1)
    count: int = request.param
    return count


def operands(size: int, code: str = "d", shift: int = 0) -> Callable[[], list[Any]]:
    """Three arrays; with a shift they are parts that begin in the middle of 16 bytes."""

    def make() -> list[Any]:
        random = np.random.default_rng(size)
        return [(random.standard_normal(size + shift) * 9).astype(code)[shift:] for _ in range(3)]

    return make


def strided(arrays: list[Any]) -> list[Any]:
    return [np.repeat(array, 3)[::3] for array in arrays]


def with_nans(arrays: list[Any]) -> list[Any]:
    """Puts NaNs in the middle: the rest is left to NumPy's loops."""
    for array in arrays:
        array[array.size * 2 // 3] = np.nan
    return arrays


def streams_at_all() -> bool:
    """Whether operations are fused on this machine."""
    eager, traced = both("def f(x, y, z):\n    return (x * y + x) * 2.0\n")
    before = _core.counter("non_temporal_blocks")
    for _ in range(5):
        check(eager, traced, operands(2000))
    return _core.counter("non_temporal_blocks") > before


STREAMED = {
    "chain": "return np.sqrt((x * y + x - y) ** 2 * 0.5) + y",
    "several": "a = x * y + 1.0\n    return a, a - x, (a + y) * 0.5",
    "one that is read again": "a = x * y + 1.0\n    b = a - x\n    return a, b, np.sqrt(np.abs(b)) + a",
    "doubles and bools": "a = x * y - x\n    return a * 2.0, a < y",
    "choices": "return np.where(x < y, x * y + 1.0, y - x)",
    "quotients": "return (x / 7.0 + y) / 3.0",
    "sum and result": "a = x * y + 1.0\n    return a.sum(), a",
    "sum of another": "a = x * y + 1.0\n    return (a - y).sum(), a * 2.0",
    "largest of another": "a = x * y + 1.0\n    return (a - y).max(), a * 2.0",
    "what is there already": "z[:] = x * y - 1.0\n    return (x - y) * 2.0 + x",
    "many": "b = x * y\n"
    + "".join(f"    c{k} = b * {k}.5 + y\n" for k in range(7))
    + "    return c0, c1, c2, c3, c4, c5, c6, b - c0 * c1 + c2 * c3 - c4 * c5 + c6",
}
# Not written past the caches: results of other loops, results that are read again, existing arrays.
OTHERS = {
    "sines": "return np.sin(x) * y + 1.0",
    "what takes longer to compute": "return np.sqrt(np.sqrt(x * x + y * y) + 1.0) / (x - 7.0)",
    "bools": "return x * y < x - y",
    "largest": "a = x * y + 1.0\n    return a.max(), a",
    "target": "z[:] = x * y - x + 1.0\n    return z",
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [*STREAMED, *OTHERS])
def test_results(name: str, size: int) -> None:
    eager, traced = both(f"def f(x, y, z):\n    {(STREAMED | OTHERS)[name]}\n")
    for _ in range(5):
        check(eager, traced, operands(size))
    before = _core.counter("non_temporal_blocks")
    check(eager, traced, operands(size, shift=1))
    blocks = _core.counter("non_temporal_blocks") - before
    for strange in (strided, with_nans):
        check(eager, traced, lambda strange=strange: strange(operands(size)()))
    longest = LONG_PART if name == "what is there already" else LONG_BLOCK
    assert blocks >= max(1, size // longest) if name in STREAMED and streams_at_all() else blocks == 0


@pytest.mark.parametrize("code", "fqbD")
def test_other_dtypes(code: str) -> None:
    """Bytes take longer to compute than to store."""
    eager, traced = both("def f(x, y, z):\n    return (x * y + x - y) * 3, x - y\n")
    before = _core.counter("non_temporal_blocks")
    for size in SIZES:
        for _ in range(4):
            check(eager, traced, operands(size, code), {"all": "ignore"})
    after = _core.counter("non_temporal_blocks")
    assert (after > before) == (code in "fqD" and streams_at_all())


@pytest.mark.parametrize("columns", [16, 401, 1024, 1100])
def test_rows(columns: int) -> None:
    """Blocks end at the ends of rows, so the next one may begin in the middle of 16 bytes; results by columns."""
    eager, traced = both(
        "def f(x, y, z):\n    a = x - z\n    return (x * y + x - y) * 0.5 + z, a, a.sum(axis=1)\n"
    )
    random = np.random.default_rng(columns)
    wide = random.standard_normal((40, columns + 3))

    def make() -> list[Any]:
        return [wide[:, 1:-2].copy(), wide[:, 2:-1], wide[3, 3:]]

    def turned() -> list[Any]:
        return [np.asfortranarray(wide), wide[::-1], wide * 2.0]

    for _ in range(5):
        check(eager, traced, make)
        check(eager, traced, turned)


@pytest.mark.parametrize("place", [0, 40_000, -1])
@pytest.mark.parametrize("value", [0.0, np.inf, np.nan])
def test_errors(place: int, value: float) -> None:
    """Errors to report, and NaNs whose bits only NumPy's loops give."""
    eager, traced = both(
        "def f(x, y, z):\n    a = x / y\n    return a - a * y, (a + y) * np.sqrt(np.abs(x))\n"
    )

    def make(first: float = value) -> list[Any]:
        x, y, z = operands(100_003)()
        y[place] = first
        x[place] = -first
        return [x, y, z]

    for errors in ("ignore", "ignore", "ignore", "warn", "raise", "call", "ignore"):
        check(eager, traced, make, {"all": errors})
        check(eager, traced, lambda: make(1.0), {"all": errors})


def test_new_memory(threads: int) -> None:
    """Memory whose pages the system has just cleared, so that they are in the caches."""
    eager, traced = both("def f(x, y, z):\n    return (x * y + x - y) * 0.5\n")
    for _ in range(5):
        check(eager, traced, operands(2000))
    x, y, z = (np.linspace(low, 3.0, 5_000_011 + threads) for low in (1.0, 2.0, 0.0))
    before = _core.counter("non_temporal_blocks")
    results = [traced(x, y, z) for _ in range(2)]
    assert _core.counter("non_temporal_blocks") == before
    wanted = results.pop().tobytes()
    results.append(traced(x, y, z))
    assert (_core.counter("non_temporal_blocks") > before) == streams_at_all()
    assert results.pop().tobytes() == wanted == eager(x, y, z).tobytes()


def test_several_callers() -> None:
    eager, traced = both("def f(x, y, z):\n    return np.sqrt((x * y + x - y) ** 2 * 0.5) + y, x - z\n")
    inputs = [operands(30_000 + number)() for number in range(4)]
    wanted = [[part.tobytes() for part in eager(*three)] for three in inputs]
    traced(*inputs[0])
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(15):
            if [part.tobytes() for part in traced(*inputs[number])] != wanted[number]:
                wrong.append(number)

    at_once(4, work)
    assert not wrong


def test_random_programs() -> None:
    _core.set_option("min_part", 1024)
    random = Random("streaming")
    for number in range(20):
        compare_program(random, 8, loops=number % 2 == 1)


ASKED = {
    "softmax": "e = np.exp(x * 0.01 - np.max(x))\n    return e / e.sum()",
    "entropy": "return np.sum(np.log(np.abs(x) + 1.0) * y), np.mean(y)",
    "beside a result": "a = np.exp(x * 0.1) * y - z\n    return a, a.sum(), a * 2.0",
    "roots, too": "return (np.sqrt(np.abs(x)) + np.exp(y * 0.1) / 3.0).sum()",
}


@pytest.mark.skipif(not ARE_USED, reason="NumPy's functions are called")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ASKED)
def test_prefetched_memory(name: str, size: int) -> None:
    """Up to the last element of arrays, behind which there may be no memory."""
    _core.set_option("min_non_temporal", 1 << 40)
    _core.set_option("min_prefetch", 1)
    eager, traced = both(f"def f(x, y, z):\n    {ASKED[name]}\n")
    for _ in range(5):
        check(eager, traced, operands(4000))
    before = _core.counter("prefetched_blocks")
    check(eager, traced, operands(size, shift=1))
    assert _core.counter("prefetched_blocks") > before
    for strange in (strided, with_nans):
        check(eager, traced, lambda strange=strange: strange(operands(size)()))
