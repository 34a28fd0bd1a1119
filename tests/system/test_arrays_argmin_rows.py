"""Argmin in short rows that are computed from columns and repeated rows, without writing the rows to memory.

Results are those of eager execution.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_CODE, misaligned
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

WARM_UP = 6
MOST_TOGETHER = 32
SQUARES = "(x[:, None] - c) ** 2 + (y[:, None] - d) ** 2"

needs_vectors = pytest.mark.skipif(not HAS_CODE, reason="there is no code for this machine")


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()
    _core.set_option("retire_after", 0)


def ordinary(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(count + seed).standard_normal(count) * 3


def operands(rows: int, row: int) -> list[np.ndarray]:
    return [ordinary(rows), ordinary(rows, 1), ordinary(row, 2), ordinary(row, 3)]


def found_by(traced: Any, eager: Any, make: Callable[[], list[Any]], errstate: Any = None) -> int:
    """In how many rows the code has searched, in a call that is compared."""
    before = _core.counter("argmin_fused")
    check(eager, traced, make, errstate or {"all": "ignore"})
    return _core.counter("argmin_fused") - before


def made(source: str, name: str = "argmin") -> tuple[Any, Any]:
    """The function traced and warmed up, so that the next call is a fusion group."""
    eager, traced = both(f"def f(x, y, c, d):\n    return np.{name}({source}, axis=1)\n")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands(100, 8), {"all": "ignore"})
    return eager, traced


def assert_runs(traced: Any) -> None:
    """The call was replayed, and its operations ran as fusion groups."""
    assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0, tagalong.explain(traced)


EXPRESSIONS = (
    SQUARES,
    "x[:, None] * c",
    "x[:, None] - c * 2.0 + 1.0",
    "np.abs(x[:, None] - c) + np.abs(d - y[:, None])",
    "np.sqrt(np.abs(x[:, None] * c)) / (9.0 + y[:, None] * d) - d",
    "np.maximum(x[:, None], c) - np.minimum(y[:, None], d)",
    "np.where(x[:, None] < c, y[:, None], d) * 0.5",
    "np.where((x[:, None] < c) & ~(y[:, None] >= d), x[:, None] + d, 0.5 - (c * y[:, None]))",
    "np.sign(x[:, None] - c) + np.reciprocal(y[:, None] + d)",
    "(((x[:, None] + c) * (x[:, None] - d) + (y[:, None] + c)) * (y[:, None] - d) - x[:, None]) / 3.0 / 7.0",
)


@needs_vectors
@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("source", EXPRESSIONS)
def test_expressions(source: str, name: str) -> None:
    eager, traced = made(source, name)
    for row in (2, 3, 7, 8, 9, 16):
        for rows in (*range(8, 26), 100, 1023, 1024, 1025, 8200, 16390):
            assert found_by(traced, eager, lambda rows=rows, row=row: operands(rows, row)) == rows, (
                rows,
                row,
            )


@needs_vectors
def test_all_shapes() -> None:
    """Few rows, long rows, and rows that would need much code use the general path."""
    for row in range(1, 41):
        eager, traced = made(SQUARES)
        for rows in (1, 2, 7, 8, 9, 15, 16, 17, 40, 1000):
            fused = found_by(traced, eager, lambda rows=rows, row=row: operands(rows, row))
            assert fused == (rows if rows >= 8 and 1 < row <= 28 else 0), (rows, row)


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as it is": lambda x: x,
    "every other": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1],
    "misaligned": misaligned,
    "column of two": lambda x: np.stack([x, -x], axis=1)[:, 0],
    "backwards, of three": lambda x: np.stack([x, -x, x], axis=1)[::-1, 1],
    "read-only": lambda x: np.broadcast_to(x, (2, x.size))[1],
}


@needs_vectors
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    eager, traced = made(SQUARES)
    lay = LAYOUTS[layout]
    for rows in (8, 13, 1000, 1024, 1025, 1031, 1032, 1033, 5000):
        for row in (2, 8, 11):

            def make(rows: int = rows, row: int = row) -> list[Any]:
                x, y, c, d = operands(rows, row)
                return [lay(x), y, c, lay(d)]

            assert found_by(traced, eager, make) == rows, (rows, row)


@pytest.mark.parametrize("code", "fqb?")
def test_other_dtypes(code: str) -> None:
    eager, traced = made(SQUARES)
    for _ in range(WARM_UP):
        for which in range(4):

            def make(which: int = which) -> list[Any]:
                arrays = operands(100, 8)
                arrays[which] = arrays[which].astype(code)
                return arrays

            check(eager, traced, make)
    for changed in (lambda x: x.astype(">f8"), lambda x: x.view(np.matrix), lambda x: x.tolist()):
        check(eager, traced, lambda changed=changed: [*operands(100, 8)[:3], changed(operands(100, 8)[3])])
    assert_runs(traced)


@needs_vectors
@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 0.0, -0.0])
def test_special_values_anywhere(special: float, name: str) -> None:
    """In the first rows, in those that are computed twice, and at each position of a row."""
    eager, traced = made("x[:, None] * c + d", name)
    for rows in (8, 9, 21):
        for place in range(rows):

            def make(rows: int = rows, place: int = place) -> list[Any]:
                x, y, c, d = operands(rows, 5)
                x[place] = special
                return [x, y, c, d]

            fused = found_by(traced, eager, make)
            assert fused == (0 if np.isnan(special) else rows), (rows, place)
    for row in range(2, 12):
        for place in range(row):
            for other in range(row):

                def make(row: int = row, place: int = place, other: int = other) -> list[Any]:
                    x, y, c, d = operands(19, row)
                    c[:] = 0.0
                    d[[place, other]] = special, -9.0 if name == "argmin" else 9.0
                    return [x, y, c, d]

                fused = found_by(traced, eager, make)
                assert fused == (0 if np.isnan(special) and place != other else 19), (row, place)


@needs_vectors
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_the_first_of_equal_ones(name: str) -> None:
    eager, traced = made("x[:, None] * c", name)
    for row in range(2, 17):

        def make(row: int = row) -> list[Any]:
            x, y, _, d = operands(100, row)
            return [x, y, np.random.default_rng(row).choice([0.0, -0.0, 1.0, -1.0], row), d]

        assert found_by(traced, eager, make) == 100


@needs_vectors
def test_nan_late() -> None:
    """Indices found before the NaN are kept; the other rows use the general path."""
    eager, traced = made(SQUARES)

    def make() -> list[Any]:
        arrays = operands(30_000, 3)
        arrays[0][20_000] = np.nan
        return arrays

    assert 0 < found_by(traced, eager, make) < 20_000


@pytest.mark.parametrize("how", ["warn", "raise", "call", "ignore"])
def test_reports(how: str) -> None:
    eager, traced = made("(x[:, None] / c) * d")
    for what in ("zero", "huge", "tiny", "nothing"):

        def make(what: str = what) -> list[Any]:
            x, y, c, d = operands(50, 4)
            c[2] = {"zero": 0.0, "huge": 1e300, "tiny": 1e-300, "nothing": 1.0}[what]
            d[2] = {"huge": 1e-300, "tiny": 1e300}.get(what, 1.0)
            return [x, y, c, d]

        for _ in range(3):
            check(eager, traced, make, {"all": how})
    assert_runs(traced)


def test_other_results_and_axes() -> None:
    """More results, other axes, more axes: the general path."""
    for body in (
        f"a = {SQUARES}\n    return np.argmin(a, axis=1), a",
        f"a = {SQUARES}\n    return np.argmin(a, axis=1), np.argmax(a, axis=1)",
        f"a = {SQUARES}\n    return np.argmin(a, axis=1), a.min(axis=1)",
        f"return np.argmin({SQUARES}, axis=0)",
        f"return np.argmin({SQUARES}, axis=1, keepdims=True)",
        f"return np.argmin({SQUARES})",
        f"return np.argmin({SQUARES}, axis=1) + 1",
        f"return np.argmin({SQUARES}, axis=-1).astype(np.int8)",
        "return np.argmin(x[:, None, None] * c[:, None] + d, axis=2)",
        "return np.argmin(x[None, :, None] * c + d, axis=2)",
        "return np.argmin(x[:, None] * c + np.outer(x, d), axis=1)",
        "return np.argmin(np.exp(x[:, None] * c * 0.1) + d, axis=1)",
        "return np.argmin(c[:, None] + d, axis=1)",
        "return np.argmin(x[:, None] + 1.0 * c[0], axis=1)",
    ):
        eager, traced = both(f"def f(x, y, c, d):\n    {body}\n")
        for _ in range(2 * WARM_UP):
            check(eager, traced, lambda: operands(100, 8))
        for rows, row in ((1000, 5), (9, 9), (8, 2)):
            check(eager, traced, lambda rows=rows, row=row: operands(rows, row))
        assert_runs(traced)


@needs_vectors
def test_other_rows_in_each_call() -> None:
    """The code depends on the length of a row and on which operands are columns."""
    eager, traced = both("def f(x, y, c, d):\n    return np.argmin(x * c + y * d, axis=1)\n")

    def make(kinds: str, rows: int, row: int) -> list[Any]:
        arrays = [ordinary(rows if kind == "c" else row, seed) for seed, kind in enumerate(kinds)]
        return [array[:, None] if kind == "c" else array for array, kind in zip(arrays, kinds, strict=True)]

    for kinds in ("ccrr", "rcrc", "ccrr", "rccr", "crrr", "cccr", "ccrr"):
        for rows, row in ((50, 8), (50, 9), (50, 8), (77, 3)):
            for _ in range(WARM_UP):
                fused = found_by(
                    traced, eager, lambda kinds=kinds, rows=rows, row=row: make(kinds, rows, row)
                )
                assert fused in (0, rows)
    for kinds in ("ccrr", "rcrc", "rccr", "cccr"):
        eager, traced = both("def f(x, y, c, d):\n    return np.argmin(x * c + y * d, axis=1)\n")
        for _ in range(WARM_UP):
            check(eager, traced, lambda kinds=kinds: make(kinds, 40, 5))
        for rows, row in ((50, 8), (50, 9), (50, 8), (77, 3)):
            assert (
                found_by(traced, eager, lambda kinds=kinds, rows=rows, row=row: make(kinds, rows, row))
                == rows
            )


@needs_vectors
def test_more_lengths_than_are_kept() -> None:
    """While other threads use the existing code."""
    eager, traced = made("x[:, None] * c + d")
    lengths = [*range(2, 29), *range(2, 29)]
    before = _core.counter("argmin_fused")
    expected = {row: eager(*operands(20_000, row)) for row in lengths}

    def run(order: list[int]) -> None:
        for row in order:
            assert np.array_equal(traced(*operands(20_000, row)), expected[row])

    threads = [threading.Thread(target=run, args=(lengths[seed:] + lengths[:seed],)) for seed in (0, 9, 18)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _core.counter("argmin_fused") > before


@needs_vectors
@pytest.mark.parametrize("threads", [1, 2])
def test_threads(threads: int) -> None:
    _core.set_option("threads", threads)
    _core.set_option("min_part", 1)
    eager, traced = made(SQUARES)
    for rows in (1000, 12_345, 100_003):
        for row in (3, 8):
            assert found_by(traced, eager, lambda rows=rows, row=row: operands(rows, row)) == rows


@needs_vectors
def test_many_values_at_once() -> None:
    """More than there are registers: there is no such code, or values are loaded again."""
    names = [f"a{i}" for i in range(14)]
    terms = " + ".join(f"(x[:, None] - {name}) * ({name} + y[:, None])" for name in names)
    eager, traced = both(f"def f(x, y, {', '.join(names)}):\n    return np.argmin({terms}, axis=1)\n")

    def make(rows: int = 100, row: int = 3) -> list[Any]:
        return [ordinary(rows), ordinary(rows, 1), *(ordinary(row, seed) for seed in range(14))]

    for _ in range(2 * WARM_UP):
        check(eager, traced, make)
    for row in (2, 3, 4, 8):
        check(eager, traced, lambda row=row: make(1000, row))
    assert_runs(traced)
