"""Argmin and argmax of short rows, and columns and rows beside larger arrays.

Results are those of eager execution, and the code for many rows at once was used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_CODE, HAS_VECTORS
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

WARM_UP = 6
MOST_TOGETHER = 32
KINDS = ("ordinary", "ties", "equal", "zeros", "one NaN", "NaNs", "infinite", "falling", "rising")


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()
    _core.set_option("retire_after", 0)


def rows_of(kind: str, shape: tuple[int, ...], code: str = "d") -> np.ndarray:
    random = np.random.default_rng(shape[-1] + len(kind))
    made = random.standard_normal(shape) * 100
    if kind in ("ties", "zeros"):
        few = [0.0, -0.0, 1.0, 1.0, -1.0] if kind == "ties" else [0.0, -0.0]
        made = random.choice(few, shape)
    elif kind == "equal":
        made[...] = 2.5
    elif kind in ("one NaN", "NaNs"):
        made[random.random(shape) < (1 / made.size if kind == "one NaN" else 0.2)] = np.nan
        made.reshape(-1)[-1] = np.nan
    elif kind == "infinite":
        made = random.choice([np.inf, -np.inf, 1.0], shape)
    elif kind in ("falling", "rising"):
        made = np.sort(made, axis=-1)[..., :: -1 if kind == "falling" else 1].copy()
    with np.errstate(invalid="ignore"):
        return made.astype(code) if code in "df" else np.nan_to_num(made, posinf=9, neginf=-9).astype(code)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_any_length(name: str, kind: str) -> None:
    eager, traced = both(f"def f(x, y):\n    return np.{name}(x + y, axis=-1)\n")
    for row in range(1, 71):
        for rows in (1, 7, 8, 9, 61):
            x = rows_of(kind, (rows, row))
            for _ in range(WARM_UP if (row, rows) == (1, 1) else 1):
                check(eager, traced, lambda x=x: [x, np.zeros_like(x)], {"all": "ignore"})
        found = _core.counter("argmin_in_rows")
        ran = groups_run()
        for _ in range(WARM_UP):
            check(eager, traced, lambda x=x: [x, np.zeros_like(x)], {"all": "ignore"})
        if row > 1:
            assert groups_run() > ran, tagalong.explain(traced)
        assert (_core.counter("argmin_in_rows") > found) == (HAS_VECTORS and 1 < row <= MOST_TOGETHER), row


@pytest.mark.parametrize("code", "dfql")
def test_each_place_of_a_row(code: str) -> None:
    """The extreme, the first of two equal ones, and a NaN, at each position."""
    for name, best in (("argmax", 5), ("argmin", -5)):
        eager, traced = both(f"def f(x, y):\n    return np.{name}(x + y, axis=1)\n")
        for row in (2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 64):
            first, second = (place.reshape(-1) for place in np.meshgrid(np.arange(row), np.arange(row)))
            for other in (best, np.nan) if code in "df" else (best,):
                x = np.zeros((row * row, row), code)
                x[np.arange(row * row), first] = best
                x[np.arange(row * row), second] = other
                found = _core.counter("argmin_in_rows")
                for _ in range(WARM_UP):
                    check(eager, traced, lambda x=x: [x, np.zeros_like(x)])
                is_together = HAS_VECTORS and code == "d" and row <= MOST_TOGETHER
                assert (_core.counter("argmin_in_rows") > found) == is_together, (row, code)


@pytest.mark.parametrize("kind", KINDS)
def test_layouts_and_axes(kind: str) -> None:
    for form in (
        "np.argmin(a, axis=0)",
        "np.argmax(a, -1)",
        "a.argmin(1)",
        "np.argmax(a)",
        "(np.argmin(a, 1), a)",
    ):
        eager, traced = both(f"def f(x, y):\n    a = x * y\n    return {form}\n")
        for code in "dfq":
            for shape in (*[(30, 8)] * WARM_UP, (9, 3), (200, 16), (5, 4, 7), (1, 5), (64, 1)):
                x = rows_of(kind, shape, code)
                for layout in (
                    x,
                    np.asfortranarray(x),
                    x[::-1],
                    x[..., ::-1],
                    np.repeat(x, 2, axis=-1)[..., ::2],
                    np.broadcast_to(x[:1], shape),
                ):
                    check(eager, traced, lambda x=layout: [x, np.ones_like(x)], {"all": "ignore"})


def test_nearest() -> None:
    """Distances to a few centres: columns beside a row that all blocks share."""
    squares = "(x[:, None] - c) ** 2 + (y[:, None] - d) ** 2"
    longest_fused = 28  # longer rows would need too much code
    for body in (
        f"return np.argmin({squares}, axis=1)",
        f"return np.argmin({squares} + np.exp(c * x[:, None] * 1e-3), axis=1)",
        f"a = {squares}\n    return np.argmin(a, axis=1), a",
        f"a = {squares}\n    return a, np.argmax(a, axis=1), a.min(axis=1)",
    ):
        eager, traced = both(f"def f(x, y, c, d):\n    {body}\n")
        for row in (*[8] * WARM_UP, *range(1, 71)):
            for kind in ("ordinary", "one NaN"):

                def make(row: int = row, kind: str = kind) -> list[Any]:
                    column = rows_of(kind, (3 * 1024 // row + 5,))
                    return [column, column[::-1], rows_of("ties", (row,)), rows_of("ordinary", (row,))]

                check(eager, traced, make, {"all": "ignore"})
        eager, traced = both(f"def f(x, y, c, d):\n    {body}\n")  # a function without code for other lengths
        for row in (8, 2, 5, 7, 9, 16, 20, 32, 64):

            def make(row: int = row) -> list[Any]:
                column = rows_of("ordinary", (5 * 1024 // row,))
                return [column, column + 1.0, rows_of("ordinary", (row,)), rows_of("ties", (row,))]

            ran, found = groups_run(), _core.counter("argmin_in_rows")
            spread, kept = _core.counter("columns_broadcast"), _core.counter("rows_kept")
            fused = _core.counter("argmin_fused")
            for _ in range(2 * WARM_UP):
                check(eager, traced, make)
            assert groups_run() > ran, tagalong.explain(traced)
            is_fused = HAS_CODE and body.endswith("- d) ** 2, axis=1)") and row <= longest_fused
            assert (_core.counter("argmin_fused") > fused) == is_fused, row
            if is_fused:
                continue
            assert (_core.counter("argmin_in_rows") > found) == (HAS_VECTORS and row <= MOST_TOGETHER)
            assert (_core.counter("columns_broadcast") > spread) == HAS_VECTORS, row
            assert _core.counter("rows_kept") > kept, row


@pytest.mark.parametrize("code", "dfqb")
def test_columns_beside_rows(code: str) -> None:
    """Without argmin: blocks begin anywhere in a row."""
    eager, traced = both("def f(x, c):\n    return (x[:, None] + c) * x[:, None], c * x[:, None]\n")
    for row in (*[8] * WARM_UP, *range(1, 71)):
        for rows in (1, 3, 100, 1024):
            x, c = rows_of("ordinary", (rows,), code), rows_of("ties", (row,), code)
            for column in (x, np.repeat(x, 2)[::2], x[::-1]):
                check(eager, traced, lambda column=column, c=c: [column, c], {"all": "ignore"})


def test_rows_that_other_code_has_written() -> None:
    """A prepared row has the contents from the beginning of the fusion group, in each run anew."""
    eager, traced = both(
        "def f(x, c):\n    a = x[:, None] * c\n    c += 1.0\n    return np.argmin(a, 1), a * 2.0\n"
    )
    for _ in range(4 * WARM_UP):
        x, c = rows_of("ordinary", (1000,)), rows_of("ordinary", (8,))
        check(eager, traced, lambda x=x, c=c: [x, c.copy()])
        check(eager, traced, lambda x=x: [x, x[8:16].copy()])


@pytest.mark.parametrize(
    "results",
    [
        "np.argmin(a, 1), a.sum()",
        "a.sum(), np.argmin(a, 1)",
        "np.argmax(a, 1), a.mean(), a.max()",
        "np.argmax(a, 1), a.min(), a.prod()",
        "np.argmin(a, 1), a.sum(axis=0)",
        "a.sum(axis=1), np.argmin(a, 1), a",
        "np.argmin(a, 1), np.argmax(a, 1), a",
    ],
)
def test_beside_other_reductions(results: str) -> None:
    """Sums of all elements divide blocks at other positions than rows do."""
    eager, traced = both(f"def f(x, y):\n    a = x * y + x\n    return {results}\n")
    for shape in (*[(1000, 10)] * WARM_UP, (200, 8), (40, 70), (3, 1024), (129, 3)):
        for code in "df":
            x = rows_of("ordinary", shape, code)
            for _ in range(WARM_UP):
                check(eager, traced, lambda x=x: [x, x + x.dtype.type(1)], {"all": "ignore"})
