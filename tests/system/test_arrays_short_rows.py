"""Rows with gaps between them, as in a part of an image, and long parts of rows, in one call of machine code.

Results and reports are those of eager execution, whatever the rows are read from, written to, or leave to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, HAS_CODE
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core
from test_arrays_vectors import ARE_USED

pytestmark = pytest.mark.skipif(not HAS_CODE, reason="no machine code for arrays")
WARM_UP = 8
# Masked vectors, one and two vectors a round, with and without a remainder; longer than a block.
ROWS = (1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 40, 63, 64, 65, 98, 127, 314, 998, 1024, 1031, 2057)
SPECIAL = (np.nan, -np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0)

EXPRESSIONS = {
    "stencil": "0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])",
    "row beside rows": "(u[:, 1:-1] - v[3, 2:]) * 2.0 + v[3, 2:]",
    "backwards": "(u[::-1, 1:-1] + 1.0) * (0.5 - v[::-1, 2:]) + 3.0",
    "every third row": "np.abs(u[::3, :-2] * 2.0 - v[::3, 1:-1]) - u[::3, 2:]",
    "bools": "(u[:, 1:-1] * 2.0 < v[:, 2:]) & ~(v[:, 1:-1] >= 0.5)",
    "select": "np.where(u[:, 1:-1] < v[:, 2:], u[:, 2:] * 2.0, 0.5 - v[:, :-2])",
    "roots": "np.sqrt(np.abs(u[:, 1:-1]) + 1.0) / (np.square(v[:, 2:]) + 0.5) - np.negative(u[:, 2:])",
    "quotients": "(u[:, 1:-1] / 3.0 + v[:, 2:] / 7.0) * 0.5",
    "extremes": "np.maximum(u[:, 1:-1], v[:, 2:]) - np.minimum(u[:, 2:], 0.25 * v[:, 1:-1])",
    "exp": "np.exp(u[:, 1:-1] * 0.01) + v[:, 2:] * 2.0",
    "log": "np.log(np.abs(u[:, 1:-1]) + 0.125) * v[:, 2:]",
    "seventeen operands": " + ".join(
        f"{array}[{row}:{row - 5}, {column}:{column - 6}]"
        for array in "uv"
        for row, column in ((0, 1), (1, 0), (2, 3), (3, 2), (4, 4), (0, 5), (1, 1), (2, 2))
    )
    + " * 2.0 - u[3:-2, 3:-3]",
}
TARGETS = {
    "stencil": ("o[1:-1, 1:-1]", EXPRESSIONS["stencil"]),
    "backwards": ("o[::-1, 1:-1]", EXPRESSIONS["backwards"]),
    "quotients": ("o[:, 2:]", EXPRESSIONS["quotients"]),
    "seventeen operands": ("o[2:-3, 3:-3]", EXPRESSIONS["seventeen operands"]),
    "select": ("o[:, 2:]", EXPRESSIONS["select"]),
}


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request: pytest.FixtureRequest) -> int:
    FusionRuns.begin()
    _core.set_option("retire_after", 0)
    _core.set_option("threads", request.param)
    _core.set_option("min_part", 2048)
    count: int = request.param
    return count


def image(rows: int, row: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(rows + 7 * row + seed).standard_normal((rows, row)) * 3


def images(rows: int, row: int) -> Callable[[], list[Any]]:
    return lambda: [image(rows, row), image(rows, row, 1)]


def with_target(rows: int, row: int) -> Callable[[], list[Any]]:
    return lambda: [*images(rows, row)(), np.full((rows, row), 7.0)]


def made(source: str, make: Callable[[], list[Any]], parameters: str = "u, v") -> tuple[Any, Any]:
    """The function traced and warmed up, so that the next call is a fusion group."""
    eager, traced = both(f"def f({parameters}):\n    {source}\n")
    for _ in range(WARM_UP):
        check(eager, traced, make)
    return eager, traced


def together(eager: Any, traced: Any, make: Callable[[], list[Any]], errstate: Any = None) -> int:
    """The number of rows that were computed together, in a call that is compared."""
    before = _core.counter("rows_together")
    check(eager, traced, make, errstate)
    return int(_core.counter("rows_together") - before)


def assert_runs(traced: Any) -> None:
    assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0, tagalong.explain(traced)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_rows_of_every_length(name: str) -> None:
    eager, traced = made(f"return {EXPRESSIONS[name]}", images(40, 70))
    is_fused = ARE_USED or name not in {"exp", "log"}
    for row in ROWS:
        for rows in (7, 19, 41):
            count = together(eager, traced, images(rows, row + 6))
            # Long rows that are divided by several numbers are multiplied instead, one by one.
            if is_fused and row >= 24 and row < 300 and rows == 41:
                assert count > (rows // 6 if name == "every third row" else rows // 2), (row, rows)
    assert_runs(traced)


@pytest.mark.parametrize("name", TARGETS)
def test_into_parts_of_arrays(name: str) -> None:
    target, source = TARGETS[name]
    eager, traced = made(f"{target} = {source}\n    return o", with_target(40, 70), "u, v, o")
    found = 0
    for row in ROWS:
        for rows in (9, 43, 160):
            found += together(eager, traced, with_target(rows, row + 6))
    assert found > 0
    assert_runs(traced)


# Each case has its own function, because one with NaNs is left to NumPy's loops for a while.
@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("name", ["stencil", "quotients", "extremes", "exp", "seventeen operands"])
def test_a_special_value_at_each_place(name: str, value: float) -> None:
    """Elements left to NumPy are computed again, from the first of the rows that were computed together."""
    random = Random(f"{name} {value}")
    for _ in range(15):
        rows, row = random.randrange(8, 45), random.randrange(30, 140)
        eager, traced = made(f"return {EXPRESSIONS[name]}", images(40, 70))
        count = together(eager, traced, images(40, 70))
        assert count > 0 or (name == "exp" and not ARE_USED)
        arrays = images(rows, row)()
        arrays[random.randrange(2)][random.randrange(rows), random.randrange(row)] = value
        errstate = random.choice(ERRSTATES)
        check(eager, traced, lambda: [array.copy() for array in arrays], errstate)  # noqa: B023
        assert_runs(traced)


@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
@pytest.mark.parametrize("name", ["stencil", "quotients"])
def test_a_special_value_and_a_target(name: str, errstate: dict[str, Any], value: float) -> None:
    target, source = TARGETS[name]
    for place in ((0, 0), (1, 30), (44, 69), (89, 3), (88, 68)):

        def make() -> list[Any]:
            arrays = with_target(90, 70)()
            arrays[0][place] = value  # noqa: B023
            return arrays

        eager, traced = made(f"{target} = {source}\n    return o", with_target(90, 70), "u, v, o")
        assert together(eager, traced, with_target(90, 70)) > 0
        check(eager, traced, make, errstate)
        assert_runs(traced)


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Fortran": np.asfortranarray,
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "columns apart": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "rows apart": lambda x: np.repeat(x, 2, axis=0)[::2],
    "columns backwards": lambda x: np.ascontiguousarray(x[:, ::-1])[:, ::-1],
    "one row": lambda x: np.broadcast_to(x[0], x.shape),
    "one column": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "float32": lambda x: x.astype("f"),
    "integers": lambda x: x.astype("l"),
    "bools": lambda x: x > 0,
}
OTHER_TYPES = ("float32", "integers", "bools")  # fusion groups are planned for the dtypes of the first calls


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["stencil", "row beside rows", "select"])
def test_layouts(name: str, layout: str) -> None:
    change = LAYOUTS[layout]
    for changed in ((True, False), (False, True), (True, True)):

        def make() -> list[Any]:
            return [
                change(array) if is_changed else array
                for array, is_changed in zip(images(31, 47)(), changed, strict=True)  # noqa: B023
            ]

        eager, traced = made(f"return {EXPRESSIONS[name]}", make)
        assert_runs(traced)
        check(eager, traced, make)
        assert together(eager, traced, images(31, 47)) > 0 or layout in OTHER_TYPES


@pytest.mark.parametrize(
    "shape", [(3, 4, 40), (5, 1, 40), (1, 6, 40), (2, 3, 4, 33), (4, 2, 2, 2, 30), (6, 5, 11)]
)
def test_more_axes(shape: tuple[int, ...]) -> None:
    def make() -> list[Any]:
        return [image(1, int(np.prod(shape)), seed).reshape(shape) for seed in (0, 1)]

    eager, traced = made("return (u[..., 1:-1] + v[..., 2:]) * 0.5 - u[..., :-2]", make)
    count = together(eager, traced, make)
    assert count > 0
    outer, rest = made("return (u[1:, ..., 1:-1] + v[:-1, ..., 2:]) * 0.5 - u[1:, ..., :-2]", make)
    together(outer, rest, make)
    assert_runs(rest)
    assert_runs(traced)


def test_past_the_caches() -> None:
    """If all rows begin at multiples of 16 bytes; otherwise without non-temporal stores."""
    _core.set_option("min_non_temporal", 1)
    for columns, is_even in ((68, True), (69, False)):
        make = images(800, columns)
        eager, traced = made("return (u[:, 2:-2] + v[:, 1:-3]) * 0.5 - u[:, 4:]", make)
        before = _core.counter("non_temporal_blocks")
        assert together(eager, traced, make) > 0
        assert _core.counter("non_temporal_blocks") > before or not is_even
        assert_runs(traced)


def test_results_in_the_memory_of_operands() -> None:
    """Operands without other owners: their old contents are not needed again."""
    source = "w = u * 2.0\n    w -= 1.0\n    return (w[:, 1:-1] + v[:, 2:]) * 0.5 - w[:, :-2]"
    for place in ((0, 3), (25, 30), (49, 65)):

        def make() -> list[Any]:
            arrays = images(50, 66)()
            arrays[1][place] = np.nan  # noqa: B023
            return arrays

        eager, traced = made(source, images(50, 66))
        assert together(eager, traced, images(50, 66)) > 0
        check(eager, traced, make, {"all": "ignore"})
        assert_runs(traced)


# Rows with every kind of remainder; longer than one call handles.
LONG_SHAPES = (
    (3, 5000),
    (5, 1031),
    (6, 998),
    (9, 700),
    (41, 127),
    (64, 64),
    (130, 33),
    (7, 20_001),
    (4, 40_000),
)

NEIGHBOURS = {
    "five rows": "0.25 * (u[:-4] + u[4:]) + 0.5 * (u[1:-3] + u[3:-1]) + 0.375 * u[2:-2]",
    "differences": "(u[1:] - u[:-1]) * 0.5",
    "second differences": "u[2:] - 2.0 * u[1:-1] + u[:-2]",
    "parts of rows": "0.25 * (u[:-2, 1:-1] + u[2:, 1:-1]) + 0.5 * u[1:-1, 1:-1]",
    "five points": "0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])",
    "backwards": "(u[::-1][1:, 1:] - u[::-1][:-1, 1:]) * 0.5",
    "two arrays": "(u[1:] - u[:-1]) * (v[1:] + v[:-1]) + v[1:] * 0.5",
    "one of two arrays": "(u[1:] - u[:-1]) * v[1:] + 1.0",
    "the same row": "(u[1:, 1:] - u[:-1, 1:]) * v[0, 1:] + 1.0",
    "bools": "(u[1:] * 2.0 < u[:-1]) | (u[1:] > 0.5)",
    "choices": "np.where(u[1:] < u[:-1], u[1:] * 2.0, 0.5 - u[:-1])",
    "roots and quotients": "np.sqrt(np.abs(u[1:]) + 1.0) / (np.square(u[:-1]) + 0.5)",
    "several": "u[1:] - u[:-1], (u[1:] + u[:-1]) * 0.5, u[1:] < u[:-1]",
}


def long_parts(eager: Any, traced: Any, make: Callable[[], list[Any]], errstate: Any = None) -> int:
    """The number of long parts of rows, in a call that is compared."""
    before = _core.counter("long_parts")
    check(eager, traced, make, errstate)
    return int(_core.counter("long_parts") - before)


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbouring_rows_of_every_shape(name: str) -> None:
    make = images(40, 200)
    eager, traced = made(f"return {NEIGHBOURS[name]}", make)
    found = 0
    for rows, row in LONG_SHAPES:
        found += long_parts(eager, traced, images(rows, row))
    assert found > 0
    assert_runs(traced)


# Each case has its own function, because one with NaNs is left to NumPy's loops for a while.
@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("name", ["five rows", "two arrays", "choices", "several"])
def test_a_special_value_in_a_long_part(name: str, value: float) -> None:
    """Elements left to NumPy are computed again, from the beginning of the part."""
    random = Random(f"{name} {value}")
    for _ in range(12):
        rows, row = random.randrange(9, 60), random.randrange(120, 900)
        make = images(rows, row)
        eager, traced = made(f"return {NEIGHBOURS[name]}", make)
        assert long_parts(eager, traced, make) > 0 or rows * row < 3 * 4096
        arrays = make()
        arrays[random.randrange(2)][random.randrange(rows), random.randrange(row)] = value
        check(eager, traced, lambda: [array.copy() for array in arrays], random.choice(ERRSTATES))  # noqa: B023
        assert_runs(traced)


def test_other_layouts_in_each_call() -> None:
    """The same function is called with arrays that share rows in one manner, in another, or not at all."""
    eager, traced = both("def f(a, b, c):\n    return (a - b) * 0.5 + c\n")
    ways: list[Callable[[np.ndarray], list[Any]]] = [
        lambda x: [x[2:], x[1:-1], x[:-2]],
        lambda x: [x[:-2], x[1:-1], x[2:]],
        lambda x: [x[1:-1], x[:-2], x[2:]],
        lambda x: [x[1:-1], x[2:], x[:-2]],
        lambda x: [x[2:, 1:], x[1:-1, 1:], x[:-2, 1:]],
        lambda x: [x[:-2, 1:], x[2:, 1:], x[1:-1, 1:]],
        lambda x: [x[2:], x[2:], x[1:-1]],
        lambda x: [x[2:], x[1:-1].copy(), x[:-2]],
        lambda x: [x[0], x[1:-1], x[:-2]],
        lambda x: [x.T[2:], x.T[1:-1], x.T[:-2]],
        lambda x: [x.ravel()[4096:], x.ravel()[:-4096], x.ravel()[2048:-2048]],
    ]
    random = Random(5)
    found = 0
    for _ in range(60):
        way = random.choice(ways)
        array = np.random.default_rng(random.randrange(100)).standard_normal((130, 130))
        found += together(eager, traced, lambda: way(array.copy()))  # noqa: B023
    assert found > 0
    assert_runs(traced)


@pytest.mark.parametrize("rows", [40, 41])
def test_long_parts_past_the_caches(rows: int) -> None:
    _core.set_option("min_non_temporal", 1)
    make = images(rows, 1000)
    eager, traced = made(f"return {NEIGHBOURS['differences']}", make)
    before = _core.counter("non_temporal_blocks")
    assert long_parts(eager, traced, make) > 0
    assert _core.counter("non_temporal_blocks") > before
    assert_runs(traced)


def test_long_parts_in_the_memory_of_operands() -> None:
    """Operands without other owners: their old contents are not needed again."""
    source = "w = v[1:] * 2.0\n    return (u[1:] - u[:-1]) * 0.5 + w / w.sum()"
    ordinary = images(50, 166)
    for place in ((0, 3), (25, 30), (49, 165)):

        def make() -> list[Any]:
            arrays = ordinary()
            arrays[0][place] = np.nan  # noqa: B023
            return arrays

        eager, traced = made(source, ordinary)
        donated = _core.counter("results_in_reused_buffers")
        check(eager, traced, ordinary)
        assert _core.counter("results_in_reused_buffers") > donated
        check(eager, traced, make, {"all": "ignore"})
        assert_runs(traced)


LONG_TARGETS = {
    "whole": ("o[:] = u[2:] - u[:-2]", lambda rows, row: (rows - 2, row)),
    "rows": ("o[1:-1] = 0.25 * (u[:-2] + u[2:]) + 0.5 * u[1:-1]", lambda rows, row: (rows, row)),
    "out": ("np.add(u[1:] * 0.5, u[:-1], out=o)", lambda rows, row: (rows - 1, row)),
    "itself": ("o[1:] -= u[:-1] * 0.5", lambda rows, row: (rows, row)),
}


@pytest.mark.parametrize("name", LONG_TARGETS)
@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
def test_long_parts_into_arrays(name: str, errstate: dict[str, Any]) -> None:
    statement, shape = LONG_TARGETS[name]
    for special in (None, *SPECIAL):
        eager, traced = both(f"def f(u, v, o):\n    {statement}\n    return o\n")
        for rows, row in ((40, 200), (5, 40_000)):

            def make() -> list[Any]:
                return [*images(rows, row)(), np.full(shape(rows, row), 7.0)]  # noqa: B023

            def with_special() -> list[Any]:
                arrays = make()  # noqa: B023
                if special is not None:  # noqa: B023
                    arrays[0][rows // 2, row // 3] = special  # noqa: B023
                return arrays

            for _ in range(WARM_UP):
                check(eager, traced, make)
            # With one thread, an array that is modified in place is computed in blocks.
            assert long_parts(eager, traced, make) > 0 or name == "itself"
            check(eager, traced, with_special, errstate)
        assert_runs(traced)
