"""libm's exp and log within fused machine code: the bits and the warnings of eager execution, for all numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arrays_support import ERRSTATES, HAS_CODE, HAS_VECTORS
from chains_support import FusionRuns, both, check, groups_run
from libm_support import LOOPS, RNG, SPECIAL, VALUES, suited
from subprocesses import run
from tagalong import _core

FUNCTIONS = (np.exp, np.log)
WARM_UP = 4
ARE_JOINED = HAS_CODE and set(FUNCTIONS) <= LOOPS
SIZES = [*range(1, 40), 63, 64, 65, 127, 129, 1000, 1023, 1025, 4099]
needs_libms = pytest.mark.skipif(not ARE_JOINED, reason="NumPy has other functions here")


@pytest.fixture(autouse=True)
def four() -> None:
    """Also uses vectors of four on machines with longer ones."""
    FusionRuns.begin()
    _core.set_option("retire_after", 0)
    _core.set_option("most_lanes", 4)


def by_loops() -> int:
    """How many elements a loop for one function has computed."""
    return _core.counter("glibc_computed") + _core.counter("glibc_left")


@needs_libms
@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("kind", [*VALUES])
def test_bits(ufunc: np.ufunc, kind: str) -> None:
    eager, traced = both(f"def f(x):\n    return np.{ufunc.__name__}(x * 1.0) - 0.0")
    for _ in range(WARM_UP):
        traced(np.ones(200))
    x = suited(ufunc, VALUES[kind]())
    before, runs = by_loops(), groups_run()
    with np.errstate(all="ignore"):
        for part in np.array_split(x, 40):
            result, expected = traced(part), eager(part)
            wrong = np.flatnonzero(result.view(np.int64) != expected.view(np.int64))
            assert wrong.size == 0, [float(item).hex() for item in part[wrong][:5]]
    assert groups_run() == runs + 40
    assert np.isnan(x).any() or by_loops() == before  # the code leaves NaNs to NumPy's loops


PROGRAMS = {
    "densities": "e = np.exp(-x * x * 0.5)\n    return e * np.log(y + 1.0) + np.exp(y) * 0.25",
    "one in another": "return np.log(np.exp(x * 0.5) + np.exp(y * 0.5)) - np.exp(np.log(np.abs(y) + 0.1) * x)",
    "of an operand": "return np.exp(x) * x + np.log(y) * y",
    "of a result": "e = np.exp(x)\n    return e, np.log(e), e * y",
    "of a number": "return x * np.exp(y * 0.0 + 0.25) + np.log(2.0 + 0.0 * y)",
    "sums": "return np.sum(np.exp(x - 1.5)), np.sum(np.log(np.abs(y) + 0.5) * x)",
    "softmax": "e = np.exp(x - np.max(x))\n    return e / np.sum(e) + y",
    "likelihood": "return -np.sum(x * np.log(np.abs(y) + 1e-9) + np.log(np.abs(1.0 - y) + 1e-9)), np.mean(np.exp(-y))",
    "in place": "x *= 0.5\n    x += np.exp(x)\n    np.log(np.abs(x), out=x)\n    return x - y",
    "masks": "return np.where(y > 0, np.log(np.maximum(y, 1e-300)), -np.exp(y)) * (x < y)",
    "more values than registers": (
        "a, b, c, d = x + y, x - y, x * y, x * 0.5\n"
        "    e, f, g, h = y * 0.25, x + 2.0, y + 3.0, x * x\n"
        "    i, j, k, m = np.exp(a), np.exp(b), np.log(f), np.log(g)\n"
        "    return i * a + j * b + k * c + m * d + np.exp(e) * e + np.log(h + 1.0) * h + i * j + k * m + a * b * c * d"
    ),
}


def traced_program(name: str) -> tuple[Any, Any]:
    eager, traced = both(f"def f(x, y):\n    {PROGRAMS[name]}")
    for _ in range(WARM_UP):
        traced(RNG.uniform(0.1, 3, 50), RNG.uniform(0.1, 3, 50))
    return eager, traced


@needs_libms
@pytest.mark.parametrize("name", [*PROGRAMS])
@pytest.mark.parametrize("threads", [1, 2])
def test_programs(name: str, threads: int) -> None:
    _core.set_option("threads", threads)
    eager, traced = traced_program(name)
    for size in (*SIZES, 5000, 300_000):
        x, y = RNG.uniform(-1.9, 3, size), RNG.uniform(0.1, 3, size)
        before, runs, asides = by_loops(), groups_run(), _core.counter("libm_vectors")
        with np.errstate(all="ignore"):
            check(eager, traced, lambda: [x.copy(), y.copy()], {"all": "ignore"})  # noqa: B023
        assert groups_run() > runs, size
        assert by_loops() == before, size
        assert _core.counter("libm_vectors") == asides, size


@needs_libms
@pytest.mark.parametrize("name", [*PROGRAMS])
def test_numbers_that_the_steps_are_not_for(name: str) -> None:
    """libm's function computes them and their neighbours within the code; results and flags are the same."""
    eager, traced = traced_program(name)
    asides = _core.counter("libm_vectors")
    signalling = np.array([0x7FF0000000000001], np.uint64).view(np.float64)[0]
    numbers = [*SPECIAL, signalling, 708.0, -707.9, 709.7, 800.0, -800.0, -740.0, 1e-310, 1e-320]
    for size in (1, 7, 40, 3000):
        for number in numbers:
            for place in range(2):
                arrays = [RNG.uniform(0.1, 3, size), RNG.uniform(0.1, 3, size)]
                arrays[place].view(np.int64)[size // 2] = np.array([number]).view(np.int64)[0]
                for errstate in ERRSTATES if size == 40 else [{"all": "ignore"}, {"all": "warn"}]:
                    check(eager, traced, lambda: [item.copy() for item in arrays], errstate)  # noqa: B023
    assert _core.counter("libm_vectors") > asides or name == "of a number"


@needs_libms
def test_few_of_many() -> None:
    """A few elements that the algorithm does not support do not send all others to the slow path."""
    eager, traced = both("def f(x):\n    return np.exp(x * -2.0) * 3.0 + np.log(x * 1e-200)")
    x = RNG.uniform(1.0, 9.0, 100_000)
    for _ in range(WARM_UP):
        traced(x[:100])
    x[::1000] = 1e3
    x[7::1000] = 1e-120
    before, asides = by_loops(), _core.counter("libm_vectors")
    with np.errstate(all="ignore"):
        assert traced(x).tobytes() == eager(x).tobytes()
    assert by_loops() == before
    assert 150 <= _core.counter("libm_vectors") - asides <= 250


@needs_libms
def test_registers_are_as_they_were() -> None:
    """Values in registers survive the call of libm's function, and so do partial sums."""
    source = """def f(x, y, z):
    a, b, c, d = x * y, x + y, x - y, y * 3.0
    e = np.exp(z)
    return a * e + b * c - d * e, np.sum((a + b) * e - c / d)"""
    eager, traced = both(source)
    for _ in range(WARM_UP):
        traced(*(RNG.uniform(0.1, 1, 64) for _ in range(3)))
    for size in (4, 64, 1000, 20_000):
        x, y = RNG.uniform(0.1, 3, size), RNG.uniform(0.1, 3, size)
        z = RNG.choice([-720.0, 0.5, 1.0, -3.0], size)
        z[0] = -720.0
        before, runs, asides = by_loops(), groups_run(), _core.counter("libm_vectors")
        check(eager, traced, lambda: [x, y, z], {"all": "ignore"})  # noqa: B023
        assert groups_run() > runs
        assert by_loops() == before
        assert _core.counter("libm_vectors") > asides


DIRECTED = """
import ctypes
import numpy as np
import tagalong
from tagalong import _core
_core.set_option("fusion", 2)
_core.set_option("most_lanes", 4)
libm = ctypes.CDLL("libm.so.6")
def f(x):
    return np.exp(x * 0.5) + np.log(x)
def g(x):
    return np.exp(x * 0.5) + np.log(x)
g = tagalong.trace(g)
x = np.random.default_rng(3).uniform(0.5, 9, 5000)
x[7] = 1.0
for _ in range(5):
    before = _core.counters()
    assert g(x).tobytes() == f(x).tobytes()
after = _core.counters()
assert after["groups_run"] > before["groups_run"]
assert all(after[name] == before[name] for name in ("glibc_computed", "glibc_left"))
for mode in (0x400, 0x800, 0xC00, 0):  # FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO
    libm.fesetround(mode)
    a, b = g(x), f(x)
    libm.fesetround(0)
    assert a.tobytes() == b.tobytes(), mode
print("same")
"""


@needs_libms
def test_other_rounding_modes() -> None:
    done = run("-c", DIRECTED)
    assert done.stdout.strip() == "same", done.stderr


@pytest.mark.skipif(not HAS_VECTORS or ARE_JOINED, reason="this is such a machine, or it has no code")
def test_where_numpy_does_without_longer_vectors() -> None:
    """Then NumPy calls libm's functions, which these tests are about."""
    without = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"}
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, variables=without, timeout=600)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
