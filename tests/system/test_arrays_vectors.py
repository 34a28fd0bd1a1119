"""exp and log, computed by our own code with the algorithm of NumPy's loops: the same bits and warnings."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_features__ as CPU_FEATURES

import tagalong
from arrays_support import compare_runs, described, misaligned
from subprocesses import run
from tagalong import _core
from tagalong._core import _UfuncSite

FUNCTIONS = (np.exp, np.log)
DEAD = 1 << 8
BLOCK = 256  # number of elements computed at once
COUNT = 500_000
LIMIT = float.fromhex("0x1.61da04cbafe44p+9")  # largest magnitude for which exp is computed here
RNG = np.random.default_rng(20261122)


def bits(count: int) -> np.ndarray:
    return RNG.integers(-(2**63), 2**63 - 1, count).view(np.float64)


def beside(numbers: np.ndarray) -> np.ndarray:
    """Numbers a few units of the last place around each."""
    near = np.resize(numbers, COUNT // 4).view(np.int64)
    return (near + RNG.integers(-30, 30, near.size)).view(np.float64)


EXP = {
    "usual": lambda: RNG.uniform(-10, 10, COUNT),
    "all that are computed": lambda: RNG.uniform(-LIMIT, LIMIT, COUNT),
    "small": lambda: np.ldexp(RNG.uniform(-1, 1, COUNT), -RNG.integers(0, 60, COUNT)),
    "tiny": lambda: np.ldexp(RNG.uniform(-1, 1, COUNT // 10), -RNG.integers(60, 1074, COUNT // 10)),
    "where tables meet": lambda: beside(np.arange(-20_000, 20_000) * (np.log(2.0) / 32)),
    "at entries of tables": lambda: beside(np.arange(-16_000, 16_000) * (np.log(2.0) / 16)),
    "beside the limit": lambda: beside(np.array([LIMIT, -LIMIT, 709.78, -708.4, -745.1])),
    "too large": lambda: RNG.uniform(-1000, 1000, COUNT // 10),
    "any bits": lambda: bits(COUNT // 10),
}
LOG = {
    "usual": lambda: RNG.uniform(0, 10, COUNT),
    "about one": lambda: 1 + np.ldexp(RNG.uniform(-1, 1, COUNT), -RNG.integers(1, 53, COUNT)),
    "beside one": lambda: beside(np.array([1.0])),
    "magnitudes": lambda: np.ldexp(RNG.uniform(1, 2, COUNT), RNG.integers(-1022, 1023, COUNT)),
    "subnormal": lambda: RNG.integers(1, 2**52, COUNT // 10).view(np.float64),
    "where tables meet": lambda: beside(1 / (1 + (np.arange(32) + 0.5) / 32)),
    "powers of two": lambda: beside(np.ldexp(1.0, np.arange(-1022, 1023))),
    "negative, too": lambda: RNG.uniform(-1, 10, COUNT // 10),
    "any bits": lambda: bits(COUNT // 10),
}
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2e-308, 1e300, LIMIT, -LIMIT, 709.7, 710.0, -745.0, -746.0]
    + [-1e308, 1e308, np.inf, -np.inf, np.nan]
)


def are_used() -> bool:
    """Whether this machine has the instructions, and its NumPy uses the functions."""
    for ufunc in FUNCTIONS:
        _UfuncSite().call(ufunc, [np.ones(3)], 0)
    found = set(_core.own_functions()["svml"])
    if CPU_FEATURES.get("X86_V4") and np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        assert found == {"exp", "log"}
    return found == {"exp", "log"}


ARE_USED = are_used()


OTHER_LOOPS = """
import numpy as np
from tagalong import _core
x = np.random.default_rng(3).uniform(0.1, 9, 50_000)
for ufunc in (np.exp, np.log):
    assert _core._UfuncSite().call(ufunc, [x], 0).tobytes() == ufunc(x).tobytes()
print(_core.own_functions()["svml"])
"""


@pytest.mark.skipif(not ARE_USED, reason="NumPy has no other loops here")
@pytest.mark.parametrize("without", ["X86_V4 AVX512_ICL", "X86_V3 X86_V4 AVX512_ICL"])
def test_other_loops_of_numpy(without: str) -> None:
    """If NumPy must not use the instructions it uses other functions, which are recognised as others."""
    done = run("-c", OTHER_LOOPS, variables={"NPY_DISABLE_CPU_FEATURES": without})
    assert done.stdout.strip() == "[]", done.stderr


def assert_same(ufunc: np.ufunc, x: np.ndarray) -> None:
    result = _UfuncSite().call(ufunc, [x], 0)
    expected = ufunc(x)
    wrong = np.flatnonzero(result.view(np.int64) != expected.view(np.int64))
    assert wrong.size == 0, [float(item).hex() for item in x[wrong][:5]]


@pytest.mark.parametrize(
    ("ufunc", "kind"), [(np.exp, kind) for kind in EXP] + [(np.log, kind) for kind in LOG]
)
def test_bits(ufunc: np.ufunc, kind: str) -> None:
    x = (EXP if ufunc is np.exp else LOG)[kind]()
    with np.errstate(all="ignore"):
        for part in np.array_split(x, 10):
            assert_same(ufunc, part)


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_lengths_and_places(ufunc: np.ufunc) -> None:
    x = RNG.uniform(0.01, 20, 4000)
    for size in [*range(71), *range(BLOCK - 9, BLOCK + 9), 2047, 2048, 2049, 3000]:
        for offset in range(0, 9, 3):
            assert_same(ufunc, x[offset : offset + size])
    unaligned = misaligned(x[:200])
    compare_runs(
        lambda: ufunc(unaligned), lambda site: site.call(ufunc, [unaligned], 0), must_be_direct=False
    )
    for strided in (x[::2], x[::-1], x[:3600].reshape(60, 60).T, np.asfortranarray(x.reshape(40, 100))):
        compare_runs(lambda: ufunc(strided), lambda site: site.call(ufunc, [strided], 0))  # noqa: B023


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("special", [None, 0.0])
def test_into_the_operand(ufunc: np.ufunc, special: float | None) -> None:
    """If a block cannot be computed here, NumPy's loop must still find its elements."""
    x = RNG.uniform(0.01, 20, 3000)
    if special is not None:
        x[::700] = special if ufunc is np.log else 800.0
    for size in (*range(40), 1000, 1031, 3000):
        site = _UfuncSite()
        with np.errstate(all="ignore"):
            result = site.call(ufunc, [x[:size] + 0.0], DEAD)
            assert described(result) == described(ufunc(x[:size] + 0.0))
        assert not ARE_USED or size == 0 or site.reused == 1


@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("how", ["warn", "raise", "call", "ignore"])
def test_special_numbers_and_flags(ufunc: np.ufunc, how: str) -> None:
    signalling = np.array([0x7FF0000000000001, 0xFFF4000000000000], np.uint64).view(np.float64)
    payload = np.array([0x7FF8000000000123, 0xFFF8000000000456], np.uint64).view(np.float64)
    for size in (1, 7, 16, 17, 300):
        compared = [*SPECIAL, *signalling, *payload]
        for number in [*range(len(compared)), None]:
            x = RNG.uniform(0.1, 6, size)
            if number is None:
                x[:] = np.resize(np.array(compared), size)  # keeps the bits
            else:
                x.view(np.int64)[size // 2] = np.array(compared[number : number + 1]).view(np.int64)[0]
            compare_runs(
                lambda: ufunc(x),  # noqa: B023
                lambda site: site.call(ufunc, [x], 0),  # noqa: B023
                errstate={"all": how},
                label=f"{size} {number}",
            )


def test_masked_lanes_raise_nothing() -> None:
    """Values read beyond the last element must not take part in the computation."""
    x = RNG.uniform(0.1, 6, 64)
    x[30:] = -np.inf
    with np.errstate(all="raise"):
        for size in range(31):
            assert_same(np.exp, x[:size])
            assert_same(np.log, x[:size])


def densities(x: Any, y: Any) -> Any:
    e = np.exp(-x * x * 0.5)
    return e * np.log(y + 1.0) + np.exp(y) * 0.25


def softmax(x: Any, y: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e) + y


def many(x: Any, y: Any) -> Any:
    """More values at once than there are registers beside those of the functions."""
    a, b, c, d = x + y, x - y, x * y, x * 0.5
    e, f, g, h = y * 0.25, x + 2.0, y + 3.0, x * x
    i, j, k, m = np.exp(a), np.exp(b), np.log(f), np.log(g)
    return i * a + j * b + k * c + m * d + np.exp(e) * e + np.log(h + 1.0) * h + i * j + k * m + a * b * c * d


def guarded(x: Any, y: Any) -> Any:
    """If the argument is out of range, the following operations must set the same flags as NumPy."""
    return np.exp(x * -1e3) * 1e300 + np.where(y > 0, np.log(np.maximum(y, 1e-300)), 0.0)


CHECKED = 2  # every fusion group is also computed operation by operation


@pytest.mark.parametrize(
    "function", [densities, softmax, many, guarded], ids=lambda function: function.__name__
)
@pytest.mark.parametrize("threads", [1, 2])
def test_in_fusion_groups(function: FunctionType, threads: int) -> None:
    _core.set_option("fusion", CHECKED)
    _core.set_option("threads", threads)
    traced = tagalong.trace(FunctionType(function.__code__.replace(), globals()))
    for size in (1, 5, 100, 1024, 5000, 300_000):
        for round_ in range(8):
            x, y = RNG.uniform(0, 3, size), RNG.uniform(0, 3, size)
            if round_ == 6:
                x[size // 2], y[size // 3] = 900.0, 0.0
            elif round_ == 7:
                x[size // 2] = np.nan
            before = _core.counter("groups_run")
            with np.errstate(all="ignore"):
                assert described(traced(x, y)) == described(function(x, y))
            # In other versions of NumPy its own loops decide which NaN an extreme is.
            if round_ > 2 and (round_ < 7 or ARE_USED or function is not softmax):
                assert _core.counter("groups_run") > before, (size, round_)


@pytest.mark.parametrize("function", [densities, many, guarded], ids=lambda function: function.__name__)
def test_flags_of_fusion_groups(function: FunctionType) -> None:
    """The warnings of a fusion group with one element outside of the range that is computed here."""
    traced = tagalong.trace(FunctionType(function.__code__.replace(), globals()))

    def raised(called: Any, x: np.ndarray, y: np.ndarray) -> list[tuple[str, int]]:
        seen: list[tuple[str, int]] = []
        with np.errstate(all="call", call=lambda kind, flag: seen.append((kind, flag))):
            called(x, y)
        return seen

    for _ in range(4):
        traced(np.ones(50), np.ones(50))
    before = _core.counter("groups_run")
    for size in (3, 40, 3000):
        for special in SPECIAL:
            for place in range(2):
                arrays = [RNG.uniform(0, 3, size), RNG.uniform(0, 3, size)]
                arrays[place][size // 2] = special
                assert raised(traced, *arrays) == raised(function, *arrays), (size, special, place)
    assert _core.counter("groups_run") > before
