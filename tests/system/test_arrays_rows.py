"""Reductions along short rows, many rows at once: results of eager execution, and the fast path was used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_VECTORS, LARGE, misaligned
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

CALLS = 4
MOST_TOGETHER = 128
LENGTHS = (*range(1, 18), 23, 24, 25, 31, 32, 33, 63, 64, 65, 72, 79, 127, 128, 129, 200, 1024, 1025, 3000)
COUNTS = (7, 8, 9, 61)
KINDS = ("ordinary", "ties", "zeros", "negative zeros", "one NaN", "NaNs", "infinite", "huge", "subnormal")
PROGRAMS = {
    "sum": "return (x + y).sum(axis=1)",
    "mean": "return np.mean(x + y, axis=-1, keepdims=True)",
    "max": "return np.max(x + y, axis=1)",
    "min": "return (x + y).min(1)",
    "prod": "return (x + y).prod(axis=1)",
    "norms": "return np.sqrt((x * x).sum(axis=1)) + 1.0",
    "several": "a = x + y\n    return a.sum(axis=1), a.max(axis=1), a.min(axis=1), a",
    "softmax": "e = np.exp(x - x.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)",
    "centred": "return x - x.mean(axis=1, keepdims=True) + y",
    "spans": "return (x.max(axis=1) - x.min(axis=1)) * 2.0",
}
OF_OPERANDS = ("softmax", "centred", "spans")


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()
    _core.set_option("retire_after", 0)


def rows_of(kind: str, rows: int, row: int, code: str = "d") -> np.ndarray:
    random = np.random.default_rng(rows * 1000 + row + len(kind))
    made = random.standard_normal((rows, row)) * 10.0 ** random.integers(-8, 8, (rows, row))
    few = {
        "ties": [2.0, 2.0, -3.0, 0.0, -0.0],
        "zeros": [0.0, -0.0],
        "negative zeros": [-0.0],
        "infinite": [np.inf, -np.inf, 1.0, 2.0],
        "huge": [1e308, -1e308, 1.0],
    }
    if kind in few:
        made = random.choice(few[kind], (rows, row))
    elif kind == "subnormal":
        made *= 1e-310
    elif kind.endswith("NaN"):
        made.reshape(-1)[random.integers(made.size)] = -np.nan
    elif kind == "NaNs":
        made[random.random(made.shape) < 0.3] = np.nan
    with np.errstate(all="ignore"):
        return made.astype(code)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_of_any_length(name: str, kind: str) -> None:
    """Each case has its own function, because one that refused its operands is not retried for a while."""
    for row in LENGTHS:
        for rows in COUNTS:
            x = rows_of(kind, rows, row)
            y = np.zeros_like(x)
            eager, traced = both(f"def f(x, y):\n    {PROGRAMS[name]}\n")
            ran, together = groups_run(), _core.counter("rows_reduced_together")
            for _ in range(CALLS):
                check(eager, traced, lambda x=x, y=y: [x, y], {"all": "ignore"})
            assert kind != "ordinary" or row == 1 or groups_run() > ran, tagalong.explain(traced)
            is_together = HAS_VECTORS and rows >= 8 and 1 < row <= MOST_TOGETHER and name != "prod"
            if kind == "ordinary" and row > 1:
                assert (_core.counter("rows_reduced_together") > together) == is_together, (row, rows)


@pytest.mark.parametrize("code", "fqlbB?")
def test_other_types(code: str) -> None:
    for name, body in PROGRAMS.items():
        eager, traced = both(f"def f(x, y):\n    {body}\n")
        for row in (*[8] * CALLS, 2, 3, 7, 8, 9, 16, 31, 64, 128, 129):
            for rows in COUNTS:
                x = rows_of("ties", rows, row).astype(np.int8).astype(code)
                check(eager, traced, lambda x=x: [x, np.zeros_like(x)], {"all": "ignore"})
        assert tagalong.stats(traced).hits > 0
        if code == "f":
            assert groups_run() > 0, (name, tagalong.explain(traced))


def at_each_place(row: int, value: float) -> np.ndarray:
    x = np.linspace(-1.0, 1.0, row * row).reshape(row, row)
    x[np.arange(row), np.arange(row)] = value
    return np.concatenate([x, x[::-1]])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_special_value_at_each_place(name: str) -> None:
    for row in (2, 3, 7, 8, 9, 15, 16, 17, 32, 33):
        for value in (np.nan, np.inf, -np.inf, 1e300, -0.0, 5e-324):
            x = at_each_place(row, value)
            eager, traced = both(f"def f(x, y):\n    {PROGRAMS[name]}\n")
            ran = groups_run()
            for _ in range(CALLS):
                check(eager, traced, lambda x=x: [x, np.zeros_like(x)])
            assert tagalong.stats(traced).hits > 0
            # Products of such numbers underflow, which must be reported.
            assert value != 5e-324 or name in ("prod", "norms") or groups_run() > ran


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "backwards": lambda x: x[::-1],
    "rows backwards": lambda x: x[:, ::-1],
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every other element": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "one row": lambda x: np.broadcast_to(x[:1], x.shape),
    "one column": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "misaligned": misaligned,
    "swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x: x.copy(),
    "subclass": lambda x: x.copy().view(np.matrix),
    "integers": lambda x: x.astype("q"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", OF_OPERANDS)
def test_operands_that_are_reduced(name: str, axis: int, layout: str) -> None:
    """In other layouts NumPy computes the reduction; the other operand does not matter."""
    body = PROGRAMS[name].replace("axis=1", f"axis={axis}")
    with np.errstate(invalid="ignore"):
        for kind in ("ordinary", "ties", "zeros"):
            for shape in ((9, 8), (200, 3), (3, 200), (64, 64), (1, 5), (5, 1)):
                x = LAYOUTS[layout](rows_of(kind, *shape))
                x.flags.writeable = layout != "read-only" and x.flags.writeable
                for other in (
                    np.ones(shape),
                    np.ones(shape, order="F"),
                    np.ones(shape[1]),
                    np.ones((shape[0], 1)),
                ):
                    eager, traced = both(f"def f(x, y):\n    {body}\n")
                    together = _core.counter("rows_reduced_together")
                    for _ in range(CALLS):
                        check(eager, traced, lambda x=x, y=other: [x, y], {"all": "ignore"})
                    assert tagalong.stats(traced).hits > 0
                    if layout in ("C", "read-only") and axis != 0 and shape in ((9, 8), (200, 3), (64, 64)):
                        assert (_core.counter("rows_reduced_together") > together) == HAS_VECTORS


@pytest.mark.parametrize("name", OF_OPERANDS)
def test_layouts_one_after_another(name: str) -> None:
    """A fusion group is called with other layouts than those for which it was planned."""
    eager, traced = both(f"def f(x, y):\n    {PROGRAMS[name]}\n")
    for shape in ((9, 8), (200, 3), (3, 200), (1, 5), (5, 1), (64, 64)):
        for lay in LAYOUTS.values():
            with np.errstate(invalid="ignore"):
                x = lay(rows_of("ties", *shape))
            check(eager, traced, lambda x=x, shape=shape: [x, np.ones(shape)], {"all": "ignore"})
            check(
                eager,
                traced,
                lambda shape=shape: [rows_of("zeros", *shape), np.ones(shape)],
                {"all": "ignore"},
            )
    assert groups_run() > 0


@pytest.mark.parametrize("errstate", [{"all": "warn"}, {"all": "raise"}, {"all": "call"}, {"all": "ignore"}])
@pytest.mark.parametrize("kind", ["huge", "infinite", "NaNs", "ordinary"])
def test_errors(kind: str, errstate: dict[str, str]) -> None:
    for body in PROGRAMS.values():
        for row in (3, 8, 13):
            x = rows_of(kind, 40, row)
            eager, traced = both(f"def f(x, y):\n    {body}\n")
            for _ in range(CALLS):
                check(eager, traced, lambda x=x: [x, np.zeros_like(x)], errstate)
            assert errstate["all"] == "raise" or tagalong.stats(traced).hits > 0


@pytest.mark.parametrize("name", ["softmax", "norms", "several"])
def test_more_axes(name: str) -> None:
    for axes in ("axis=(1, 2)", "axis=2", "axis=(0, 2)", "axis=0", "axis=-2"):
        body = PROGRAMS[name].replace("axis=1", axes)
        for shape in ((24, 24, 3), (3, 4, 5), (9, 2, 8), (1, 9, 3), (9, 3, 1)):
            x = rows_of("ordinary", shape[0], shape[1] * shape[2]).reshape(shape)
            eager, traced = both(f"def f(x, y):\n    {body}\n")
            for operand in (x, x, x, np.asfortranarray(x), x[::-1], x.transpose(2, 0, 1)):
                check(eager, traced, lambda x=operand: [x, x], {"all": "ignore"})
            assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_large(threads: int) -> None:
    _core.set_option("threads", threads)
    _core.set_option("min_part", 1000)
    for body in PROGRAMS.values():
        eager, traced = both(f"def f(x, y):\n    {body}\n")
        before = _core.counter("fusion_parts")
        for row in (*[8] * CALLS, 3, 5, 32, 100):
            for kind in ("ordinary", "ties", "huge"):
                x = rows_of(kind, LARGE // row + 3, row)
                check(eager, traced, lambda x=x: [x, np.zeros_like(x)], {"all": "ignore"})
        assert (_core.counter("fusion_parts") > before) == (threads > 1 and "prod" not in body)
        eager, traced = both(f"def f(x, y):\n    {body}\n")
        for row in (*[8] * CALLS, 5):
            x = rows_of("one NaN", LARGE // row + 3, row)
            check(eager, traced, lambda x=x: [x, np.zeros_like(x)], {"all": "ignore"})
        assert tagalong.stats(traced).hits > 0
