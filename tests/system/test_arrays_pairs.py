"""Two neighbouring rows at once, and long parts of rows by one call of machine code: whatever the arrays share, how
their rows lie and what they leave open, the results and reports are eager execution's.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from arrays_support import ERRSTATES, HAS_CODE
from chains_support import Regions, both, check
from tagalong import _core
from test_arrays_together import SPECIAL, WARM_UP, assert_runs, images, made

pytestmark = pytest.mark.skipif(not HAS_CODE, reason="no machine code for arrays")
LEAST_PAIRED = 4096  # elements of all rows
LONGEST_OF_PAIR = 16_384  # of one
# Rows of every kind of rest; a pair and less, odd and even numbers; longer than one call takes.
SHAPES = ((3, 5000), (5, 1031), (6, 998), (9, 700), (41, 127), (64, 64), (130, 33), (7, 20_001), (4, 40_000))

# What the next row takes of this one's: as many rows as there are beside each other.
EXPRESSIONS = {
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
UNSHARED = {
    "functions": "np.exp(u[1:] * 0.01) - u[:-1]",
    "every second row": "(u[:-1:2, 1:] + u[1::2, 1:]) * 0.5 - v[1::2, 1:]",
    "sums": "((u[1:] - u[:-1]) * 0.5).sum()",
}


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request: pytest.FixtureRequest) -> int:
    Regions.begin()
    _core.set_option("retire_after", 0)
    _core.set_option("threads", request.param)
    _core.set_option("worth_part", 4096)
    _core.set_option("shared_rows", 1)
    count: int = request.param
    return count


def counted(eager: Any, traced: Any, make: Callable[[], list[Any]], errstate: Any = None) -> tuple[int, int]:
    """How many rows were in pairs, and how many parts of rows were long, in a call that is compared."""
    pairs, parts = _core._rows_in_pairs(), _core._long_parts()
    check(eager, traced, make, errstate)
    return _core._rows_in_pairs() - pairs, _core._long_parts() - parts


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_rows_of_every_shape(name: str) -> None:
    make = images(40, 200)
    eager, traced = made(f"return {EXPRESSIONS[name]}", make)
    pairs, _ = counted(eager, traced, make)
    assert pairs >= 30
    for rows, row in SHAPES:
        pairs, _ = counted(eager, traced, images(rows, row))
        assert pairs > 0 or (rows - 4) * (row - 2) < LEAST_PAIRED or row > LONGEST_OF_PAIR, (rows, row)
    assert_runs(traced)


@pytest.mark.parametrize("name", UNSHARED)
def test_nothing_that_both_take(name: str) -> None:
    make = images(80, 200)
    eager, traced = made(f"return {UNSHARED[name]}", make)
    assert counted(eager, traced, make)[0] == 0
    for rows, row in SHAPES:
        assert counted(eager, traced, images(rows, row))[0] == 0
    assert_runs(traced)


def test_rows_are_what_is_shared() -> None:
    """Three rows of the image are one."""
    make = images(80, 200)
    eager, traced = made("return u[3:] * 2.0 - u[:-3]", make)
    assert counted(eager, traced, make)[0] >= 20  # 24, and less where two threads have cut them
    for rows, row in SHAPES:
        counted(eager, traced, images(rows, row))
    assert_runs(traced)


def test_what_does_not_pay_is_not_looked_for() -> None:
    make = images(40, 200)
    eager, traced = made(f"return {EXPRESSIONS['five rows']}", make)
    for shared, is_paired in ((4, True), (5, False)):
        _core.set_option("shared_rows", shared)
        pairs, parts = counted(eager, traced, make)
        assert (pairs > 0) == is_paired
        assert parts > 0


# Functions are made anew for each case: one that has met NaNs is left to NumPy's loops for a while.
@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("name", ["five rows", "parts of rows", "two arrays", "choices", "several"])
def test_a_special_value_at_each_place(name: str, value: float) -> None:
    """What a pair leaves open is computed again, from the first row of those together on."""
    random = Random(f"{name} {value}")
    for _ in range(12):
        rows, row = random.randrange(9, 60), random.randrange(120, 900)
        make = images(rows, row)
        eager, traced = made(f"return {EXPRESSIONS[name]}", make)
        if (rows - 4) * (row - 2) >= LEAST_PAIRED and rows >= 20:  # each part has two
            assert counted(eager, traced, make)[0] > 0
        arrays = make()
        arrays[random.randrange(2)][random.randrange(rows), random.randrange(row)] = value
        check(eager, traced, lambda: [array.copy() for array in arrays], random.choice(ERRSTATES))  # noqa: B023
        assert_runs(traced)


def test_arrays_lie_otherwise_in_each_call() -> None:
    """The same function of arrays that share rows, share them otherwise, or do not."""
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
        image = np.random.default_rng(random.randrange(100)).standard_normal((130, 130))
        found += counted(eager, traced, lambda: way(image.copy()))[0]  # noqa: B023
    assert found > 0
    assert_runs(traced)


@pytest.mark.parametrize("columns", [996, 64])
def test_bands(columns: int) -> None:
    """Filters along both axes: the second one in pairs, band by band."""
    source = "r = 0.5 * (u[:, :-2] + u[:, 2:]) + u[:, 1:-1]\n    return 0.5 * (r[:-2] + r[2:]) + r[1:-1]"
    _core.set_option("worth_bands", 1)
    _core.set_option("band_rows", 21)
    make = images(150, columns + 2)
    eager, traced = made(source, make)
    pairs, _ = counted(eager, traced, make)
    assert pairs > 100 or columns < 100
    for rows in (48, 63, 151):
        counted(eager, traced, images(rows, columns + 2))
    assert_runs(traced)


@pytest.mark.parametrize("rows", [40, 41])
def test_past_the_caches(rows: int) -> None:
    """There rows are computed one after another."""
    _core.set_option("worth_streaming", 1)
    make = images(rows, 1000)
    for expression in (EXPRESSIONS["differences"], "(u[1:, 1:-1] + v[1:, 1:-1]) * 0.5"):
        eager, traced = made(f"return {expression}", make)
        before = _core._streamed_blocks()
        assert counted(eager, traced, make)[0] == 0
        assert _core._streamed_blocks() > before
        assert_runs(traced)


def test_results_in_the_memory_of_operands() -> None:
    """What nobody has any more: none of it is computed again, so rows go one by one."""
    source = "w = v[1:] * 2.0\n    return (u[1:] - u[:-1]) * 0.5 + w / w.sum()"
    ordinary = images(50, 166)
    for place in ((0, 3), (25, 30), (49, 165)):

        def make() -> list[Any]:
            arrays = ordinary()
            arrays[0][place] = np.nan  # noqa: B023
            return arrays

        eager, traced = made(source, ordinary)
        donated = _core._results_donated()
        assert counted(eager, traced, ordinary) == (0, 0)
        assert _core._results_donated() > donated
        check(eager, traced, make, {"all": "ignore"})
        assert_runs(traced)


TARGETS = {
    "whole": ("o[:] = u[2:] - u[:-2]", lambda rows, row: (rows - 2, row)),
    "rows": ("o[1:-1] = 0.25 * (u[:-2] + u[2:]) + 0.5 * u[1:-1]", lambda rows, row: (rows, row)),
    "out": ("np.add(u[1:] * 0.5, u[:-1], out=o)", lambda rows, row: (rows - 1, row)),
    "itself": ("o[1:] -= u[:-1] * 0.5", lambda rows, row: (rows, row)),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
def test_long_parts_into_arrays(name: str, errstate: dict[str, Any]) -> None:
    statement, shape = TARGETS[name]
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
            # By one thread, what is changed itself is computed in blocks.
            assert counted(eager, traced, make)[1] > 0 or name == "itself"
            check(eager, traced, with_special, errstate)
        assert_runs(traced)
