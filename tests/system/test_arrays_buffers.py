"""Sums with smaller or larger NumPy buffers than usual: NumPy 1.x sums each buffer on its own, 2.x does not.

The numbers have very different magnitudes, so that no other order gives the same sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import subprocesses
import tagalong
from arrays_support import NUMPY_2
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

USUAL = 8192
ELEMENTS = (16, 512, 1024, 4096, USUAL, 16_384, 1_000_000)
SIZES: tuple[tuple[int, ...], ...] = ((15,), (1000,), (1025,), (5000,), (8193,), (20_003,), (100_000,))
ROWS: tuple[tuple[int, ...], ...] = ((40, 17), (9, 1000), (7, 3000), (6, 8192), (5, 8200), (3, 20_001))
PROGRAMS = {
    "sum": ("return np.sum(x * y - x)", SIZES + ROWS),
    "mean": ("return (x * y - x).mean(), x * y", SIZES),
    "several": ("a = x * y\n    return a.sum(), np.mean(a - x), a.max() if a.size == 1 else 0", SIZES),
    "sum of an array": ("return np.sum(x), np.mean(y)", SIZES),
    "passes": ("a = x - np.mean(x)\n    return np.sum(a * a), a", SIZES),
    "softmax": ("e = np.exp(x * 1e-9)\n    return e / e.sum()", SIZES),
    "rows": ("a = x * y\n    return a.sum(axis=1), a.max(axis=1), np.mean(a, axis=-1, keepdims=True)", ROWS),
    "rows and columns": ("a = x * y\n    return a.sum(axis=1), a.max(axis=0)", ROWS),
    "of columns": ("return x / np.sqrt((x * x).sum(axis=1, keepdims=True))", ROWS),
}


@pytest.fixture(params=ELEMENTS, autouse=True)
def buffers(request: pytest.FixtureRequest) -> Iterator[int]:
    FusionRuns.begin()
    for code in "df":  # with the usual buffers, so that the order of NumPy's sums is detected
        eager, traced = both("def f(x, y):\n    return np.sum(x), np.mean(y)\n")
        for _ in range(4):
            check(eager, traced, uneven((1000,), code))
    before = np.setbufsize(request.param)
    yield request.param
    np.setbufsize(before)


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> None:
    _core.set_option("threads", request.param)
    _core.set_option("min_part", 2048)


def uneven(shape: tuple[int, ...], code: str) -> Callable[[], list[Any]]:
    random = np.random.default_rng(shape)
    made = [
        (random.standard_normal(shape) * 10.0 ** random.uniform(-7, 7, shape)).astype(code) for _ in range(2)
    ]
    return lambda: [array.copy() for array in made]


@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("threads")
def test_sums(name: str, code: str, buffers: int) -> None:
    body, shapes = PROGRAMS[name]
    eager, traced = both(f"def f(x, y):\n    {body}\n")
    for _ in range(4):
        check(eager, traced, uneven(shapes[1], code), {"all": "ignore"})
    for shape in shapes:
        before = groups_run()
        check(eager, traced, uneven(shape, code), {"all": "ignore"})
        if (NUMPY_2 or buffers >= USUAL) and name not in {"rows and columns"}:
            assert groups_run() > before, (shape, tagalong.explain(traced))
            assert "(loop)" not in tagalong.explain(traced)  # the sums are part of fusion groups


@pytest.mark.usefixtures("threads")
def test_buffers_that_change() -> None:
    """From call to call: what was detected for the first buffers does not hold for the next ones."""
    eager, traced = both("def f(x, y):\n    return np.sum(x * y - x), (x + y).mean()\n")
    for _ in range(4):
        check(eager, traced, uneven((3000,), "d"))
    for elements in (*ELEMENTS, *reversed(ELEMENTS)):
        np.setbufsize(elements)
        for shape in SIZES:
            check(eager, traced, uneven(shape, "d"))


FIRST = """
import numpy as np, tagalong
from tagalong import _core
_core.set_option("fusion", 2)
np.setbufsize({elements})
def f(x, y):
    return np.sum(x * y - x)
traced = tagalong.trace(f)
random = np.random.default_rng(1)
for elements in (3000, 3000, 3000, 3000, 9000, 100_000):
    for buffer in ({elements}, 16, 8192):
        np.setbufsize(buffer)
        x, y = random.standard_normal((2, elements)) * 10.0 ** random.uniform(-7, 7, elements)
        z = x * y - x
        assert traced(x, y).tobytes() == np.add.reduce(z).tobytes(), (elements, buffer)
print(_core.counter("groups_run") > 0)
"""


def test_the_first_buffers_are_others(buffers: int) -> None:
    """The order of NumPy's sums is detected with the buffer size that is set at that time."""
    done = subprocesses.run("-c", FIRST.format(elements=buffers))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True" or (not NUMPY_2 and buffers > 1 << 16), done.stderr
