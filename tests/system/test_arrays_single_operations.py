"""Fusion groups of one operation: reductions of existing arrays, and operations with casts.

Operations on rows with gaps. Argmin and argmax along an axis, and new axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagalong
from array_programs import CODES
from arrays_support import ERRSTATES, sample, with_room
from chains_support import FusionRuns, both, check, groups_run

WARM_UP = 5
REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all")


@pytest.fixture(autouse=True)
def fusion() -> None:
    """The option's default."""
    FusionRuns.begin()


def layouts(code: str, kind: str) -> list[tuple[np.ndarray, bool]]:
    """Arrays, and whether each is contiguous."""
    made = sample(code, (60, 50), kind)
    row = sample(code, (3000,), kind)
    other = row.dtype.newbyteorder()
    return [
        (row, True),
        (row[:1], True),
        (made, True),
        (made.T, True),
        (made.reshape(5, 12, 50), True),
        (row[::2], False),
        (row[::-1], False),
        (made[:, 3:40], False),
        (made[::-1], False),
        (np.broadcast_to(row[:7], (5, 7)), False),
        (row.astype(other), False),
        (row[:0], False),
        (row[0], False),
    ]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("form", ["np.{0}(x)", "x.{0}()", "np.{0}(x, axis=None)", "np.{0}(x, axis=-1)"])
def test_reductions_of_arguments(name: str, form: str) -> None:
    """In front of an operation that is not one of arrays, so the function as a whole is no fusion group."""
    source = f"def f(x, log):\n    a = {form.format(name)}\n    log.append(a)\n    return a\n"
    for code in "dfilB?":
        if name in ("any", "all") and code != "?":
            continue
        for kind in ("ordinary", "extreme", "bits"):
            eager, traced = both(source)
            first = sample(code, (100,), "ordinary")
            for _ in range(WARM_UP):
                check(eager, traced, lambda first=first: [first, with_room(1)], {"all": "ignore"})
            for array, _is_row in layouts(code, kind):
                for errstate in ERRSTATES[:3]:
                    check(eager, traced, lambda array=array: [array, with_room(1)], errstate)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_they_are_fusion_groups(name: str) -> None:
    for form in (f"np.{name}(x)", f"np.{name}(x, axis=-1)", f"x.{name}()"):
        eager, traced = both(f"def f(x, log):\n    a = {form}\n    log.append(1)\n    return a\n")
        for array, is_row in [(np.linspace(1, 2, 100), True)] * WARM_UP + layouts("d", "ordinary"):
            before = groups_run()
            check(eager, traced, lambda array=array: [array, with_room(1)])
        for array, is_row in layouts("d", "ordinary"):
            if is_row and array.ndim == 1:
                for _ in range(WARM_UP):
                    before = groups_run()
                    check(eager, traced, lambda array=array: [array, with_room(1)])
                assert groups_run() > before, (form, array.shape, tagalong.explain(traced))


def test_written_arrays_are_reduced_as_they_are_then() -> None:
    for body in (
        "x *= 2.0\n    y += x\n    return np.sum(x), np.max(y)",
        "y[1:] = x[1:] * 2.0 + 1.0\n    return np.sum(y), np.max(x)",
        "s = np.sum(y)\n    np.add(x, x * 2.0, out=y)\n    return s, y",
        "np.add(x, x * 2.0, out=y)\n    return np.sum(z), y",
    ):
        eager, traced = both(f"def f(x, y, z):\n    {body}\n")

        def make() -> list[Any]:
            y = np.linspace(3.0, 4.0, 50)
            return [np.linspace(1.0, 2.0, 50), y, y[::-1][::-1]]

        for _ in range(2 * WARM_UP):
            check(eager, traced, make)


def test_other_functions_of_the_name() -> None:
    """The name belongs to other classes or modules, or the array has another class."""
    source = "def f(x, m):\n    a = m.sum(x)\n    return a, x.max()\n"

    class Sub(np.ndarray):
        def max(self, *_: Any, **__: Any) -> str:  # type: ignore[override]
            return "largest"

    class Module:
        @staticmethod
        def sum(x: Any) -> str:
            return f"sum of {len(x)}"

    eager, traced = both(source)
    made: list[Callable[[], list[Any]]] = [
        lambda: [np.arange(5.0), np],
        lambda: [np.arange(5.0).view(Sub), np],
        lambda: [np.arange(5.0), Module],
        lambda: [np.ma.masked_array(np.arange(5.0), [0, 1, 0, 0, 0]), np],
    ]
    for make in [*[made[0]] * WARM_UP, *made, *made]:
        results = [[repr(value) for value in function(*make())] for function in (eager, traced)]
        assert results[0] == results[1]


@pytest.mark.parametrize("codes", ["dl", "ld", "fi", "dB", "lB", "d?", "fd"])
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_operations_with_casts(codes: str, symbol: str) -> None:
    eager, traced = both(f"def f(x, y, log):\n    a = x {symbol} y\n    log.append(1)\n    return a\n")
    for kind in ("ordinary", "extreme"):
        for size in (*[10] * WARM_UP, 1, 1000, 3000, 0):
            made = [sample(code, (size,), kind) for code in codes]
            for errstate in ERRSTATES[:3]:
                check(eager, traced, lambda made=made: [*made, with_room(1)], errstate)
    before = groups_run()
    made = [np.ones(7, code) for code in codes]
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [*made, with_room(1)])
    assert groups_run() > before or codes == "d?", tagalong.explain(traced)


ROWS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 100, 1023, 1024, 1025, 3000)


def with_ties(code: str, shape: tuple[int, ...], kind: str) -> np.ndarray:
    values = sample(code, shape, "ordinary" if kind == "ties" else kind)
    if kind != "ties" or code == "?":
        return values
    few = np.array([0.0, -0.0, 1.0, -1.0, np.nan] if code in "df" else [0, 1, 2, 3, 0]).astype(code)
    chosen = few[np.random.default_rng(values.size).integers(0, 5, shape)]
    return np.where(
        np.random.default_rng(1).random(shape) < 0.05, chosen, np.where(chosen == chosen, chosen, few[0])
    )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("code", CODES)
def test_places(name: str, code: str) -> None:
    """The first of several extremes, the first NaN; rows that fit into a block and longer ones."""
    for form in (f"np.{name}(a, axis=1)", f"a.{name}(-1)", f"np.{name}(x, 1)"):
        eager, traced = both(f"def f(x, y):\n    a = x + y\n    return {form}\n")
        ordinary = [np.arange(24).reshape(3, 8).astype(code)] * 2
        for _ in range(WARM_UP):
            check(eager, traced, lambda ordinary=ordinary: ordinary, {"all": "ignore"})
        for kind in ("ties", "extreme", "bits"):
            for row in ROWS:
                made = [with_ties(code, (13 if row < 1000 else 3, row), kind), np.zeros((1, row), code)]
                check(eager, traced, lambda made=made: made, {"all": "ignore"})
                made[1] = np.zeros_like(made[0])
                before = groups_run()
                check(eager, traced, lambda made=made: made, {"all": "ignore"})
                check(eager, traced, lambda made=made: [m.copy(order="F") for m in made], {"all": "ignore"})
        if code not in "?" and name in form:
            for row in (2, 8, 17, 1024):
                made = [with_ties(code, (13, row), "ordinary"), np.zeros((13, row), code)]
                for _ in range(2 * WARM_UP):
                    before = groups_run()
                    check(eager, traced, lambda made=made: made, {"all": "ignore"})
                assert groups_run() > before, (form, row, tagalong.explain(traced))


def test_places_of_other_shapes() -> None:
    for form in (
        "np.argmax(a)",
        "np.argmax(a, axis=0)",
        "np.argmax(a, axis=2)",
        "np.argmax(a, axis=-1, keepdims=True)",
        "np.argmax(a, axis=(1,))",
        "np.argmax(a, axis=5)",
        "np.argmin(a, -1) * 2 + 1",
        "np.argmin(a, -1) + a.sum(axis=-1)",
        "(np.argmin(a, -1), a.sum(axis=-1), a)",
        "(np.argmin(a, -1), a.max(axis=0))",
    ):
        eager, traced = both(f"def f(x, y):\n    a = x * y\n    return {form}\n")
        for shape in (
            *[(3, 4, 5)] * WARM_UP,
            (4, 6),
            (7,),
            (3, 1, 4),
            (2, 3, 1),
            (0, 3, 4),
            (3, 4, 0),
            (1, 1, 9),
        ):
            made = [sample("d", shape, "ordinary") for _ in range(2)]
            check(eager, traced, lambda made=made: made)
            check(eager, traced, lambda made=made: [m.T for m in made])
            check(eager, traced, lambda made=made: [m[..., ::-1] for m in made])


def test_new_axes() -> None:
    for body in (
        "return (x[:, None] - y) ** 2 + (y[:, None] - x) ** 2",
        "return np.argmin((x[:, None] - y) ** 2 + 1.0, axis=1)",
        "return x[None] * 2.0 + y[None, :]",
        "return (x[np.newaxis, 1:] + y[:, np.newaxis]) * 2.0",
        "return x[..., None] + y * 2.0",
        "return x[1, None] + y * 2.0",
        "z[:, None, :] = x[:, None, None] * y + 1.0\n    return z",
        "return x[None, None, None, None] + y * x",
    ):
        eager, traced = both(f"def f(x, y, z):\n    {body}\n")
        for size in (*[9] * WARM_UP, 1, 8, 40, 2, 3, 4, 16, 130):

            def make(size: int = size) -> list[Any]:
                return [np.linspace(1, 2, size), np.linspace(2, 3, size)[::-1], np.zeros((size, size))]

            before = groups_run()
            check(eager, traced, make)
            check(eager, traced, lambda make=make: [make()[0], make()[1][:1], make()[2]])
            check(
                eager, traced, lambda make=make: [make()[0].astype("f4"), make()[1].astype("i4"), make()[2]]
            )
        for _ in range(2 * WARM_UP):
            before = groups_run()
            check(eager, traced, make)
        is_whole = body.startswith(("return (", "return np.argmin", "return x[None] *", "z["))
        assert groups_run() > before or not is_whole, (body, tagalong.explain(traced))


def test_squares_of_temporaries() -> None:
    """Eager execution squares a large temporary of bools in place, which raises."""
    for body in (
        "return (x < y) ** 2",
        "a = (x < y) ** 2\n    return a * 3",
        "a = x < y\n    return a**2 + a",
    ):
        eager, traced = both(f"def f(x, y):\n    {body}\n")
        for size in (*[10] * WARM_UP, 300_000, 10, 300_000, 300_000):
            made = [np.linspace(0, 1, size), np.full(size, 0.5)]
            check(eager, traced, lambda made=made: made)


def test_the_line_of_a_warning_about_an_array_of_one() -> None:
    """NumPy 1.26 warns where an array with one element becomes an item."""
    eager, traced = both("def f(a, b):\n    c = a * 2.0\n    b -= 2\n\n    a[0] = c + c\n\n    return c\n")
    for size in (7, 7, 7, 1, 1, 7, 1):
        check(eager, traced, lambda size=size: [np.ones(size), np.ones(size)])


ROW_BY_ROW = {
    "rows with gaps": "x[:, 1:] - y[:, :-1]",
    "one operand": "x[:, 1:] * 2",
    "bools": "x[:, 1:] < y[:, :-1]",
    "a column": "x * y[:, :1]",
    "a row": "x + y[0]",
    "columns and rows": "x[:, :1] - y[0]",
    "transposed": "x[:2, :2] - y[:2, :2].T",
    "backwards": "x[::-1, ::-1] * y",
}


@pytest.mark.parametrize("name", ROW_BY_ROW)
@pytest.mark.parametrize("code", "?bhifdD")
def test_rows_of_single_operations(name: str, code: str) -> None:
    """NumPy goes from row to row; a group of one operation copies short rows into blocks."""
    eager, traced = both(
        f"def f(x, y, log):\n    log.append(1)\n    r = {ROW_BY_ROW[name]}\n    log.append(r)\n    return r\n"
    )
    before = groups_run()
    for rows, row in ((6, 2), (9, 3), (40, 4), (33, 7), (300, 9), (30, 17), (70, 33), (12, 300), (3, 1500)):
        made = sample(code, (max(rows, row), max(rows, row)), "ordinary")
        for _ in range(WARM_UP):
            check(eager, traced, lambda: [made[:rows, :row].copy(), made[:rows, :row].copy(), with_room(1)])  # noqa: B023
    assert tagalong.stats(traced).hits > 0
    assert groups_run() > before or code in "?D", tagalong.explain(traced)


IN_PLACE = {
    "rows with gaps": ("x[:, 1:]", "y[:, :-1]"),
    "from a contiguous array": ("x[:, :-1]", "y[:, 1:].copy()"),
    "into a contiguous array": ("x", "np.concatenate([y, y], 1)[:, 1 : 1 + x.shape[1]]"),
    "a column": ("x", "y[:, :1]"),
    "itself, shifted": ("x[:, 1:]", "x[:, :-1]"),
    "backwards": ("x[::-1]", "y[:, ::-1]"),
    "every second column": ("x[:, ::2]", "y[:, ::2]"),
}


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("codes", ["dd", "ff", "lb", "ii", "??", "dl", "FF"])
def test_rows_in_place(name: str, codes: str) -> None:
    target, source = IN_PLACE[name]
    operator = "&=" if codes == "??" else "+="
    eager, traced = both(
        f"def f(x, y, log):\n    log.append(1)\n    t = {target}\n    s = {source}\n    log.append(s)\n"
        f"    t {operator} s\n    log.append(t)\n    return x\n"
    )
    before = groups_run()
    for rows, row in ((6, 2), (9, 3), (40, 4), (33, 7), (300, 9), (30, 17), (70, 33), (12, 300), (3, 1500)):
        x, y = (sample(code, (rows, row), "ordinary") for code in codes)
        for _ in range(WARM_UP):
            check(eager, traced, lambda: [x.copy(), y.copy(), with_room(1)])  # noqa: B023
    assert tagalong.stats(traced).hits > 0
    assert groups_run() > before or codes == "FF" or name == "itself, shifted", tagalong.explain(traced)
