"""Large existing arrays that get new contents.

They are computed in place if the inputs show that there is nothing to report, or if a speculative run has shown it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_CODE
from chains_support import both, check
from tagalong import _core

RANDOM = np.random.default_rng(5)
ROWS, COLUMNS = 801, 701
WARM_UP = 8


def stencil(u, out):
    out[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return out


def every_second(u, out):
    out[:, ::2] = (u[:, ::2] * u[:, 1::2] - 1.0) * 0.5 + u[:, 1::2]
    return out


def backwards(u, out):
    out[::-1, ::-1] = (u * 0.5 + 1.0 - u * u) * 0.25 + u
    return out


def with_a_row(u, out):
    out[:, :] = (u + u[3]) * 0.5 - u[3] + np.abs(u)
    return out


def two_targets(u, out):
    half = u.shape[0] // 2
    out[:half] = (u[:half] + 1.0) * 0.5 - u[:half] * 3.0 + 1.0
    out[half : 2 * half] = (u[:half] - 1.0) * 0.5 + u[:half] * 3.0 - 1.0
    return out


def into_itself(u, out):
    u[1:] = (u[:-1] + u[1:]) * 0.5 - 1.0 + u[:-1] * 0.25
    return out


def whole_in_place(u, out):
    out += (u * 0.5 + 1.0 - u) * 0.25 + 2.0 - u
    return out


def with_a_quotient(u, out):
    out[:, 1:] = (u[:, 1:] / 3.0 + u[:, :-1]) * 0.5 - u[:, 1:]
    return out


AT_ONCE = (stencil, every_second, backwards, with_a_row, two_targets)
TWICE = (with_a_quotient,)
ALL = (*AT_ONCE, *TWICE, into_itself, whole_in_place)
KINDS = ("ordinary", "a NaN", "infinite", "overflows", "large", "underflows", "zeros")
STATES: dict[str, Any] = {
    "default": {},
    "warn": {"all": "warn"},
    "raise": {"all": "raise"},
    "ignore": {"all": "ignore"},
    "raise but underflows": {"all": "raise", "under": "ignore"},
}
RAISING = "raise but underflows"


def array(kind: str) -> np.ndarray:
    u = RANDOM.normal(size=(ROWS, COLUMNS + 1))
    place = RANDOM.integers(300, ROWS), RANDOM.integers(COLUMNS)
    if kind == "a NaN":
        u[place] = -np.nan
    elif kind == "infinite":
        u[place], u[place[0] - 2, place[1]] = np.inf, -np.inf
    elif kind == "overflows":
        u[place[0] - 1 : place[0] + 1] = 1.7e308
    elif kind == "large":
        u[place] = 1e305
    elif kind == "underflows":
        u[place[0] - 2 : place[0] + 1] = 5e-324
    elif kind == "zeros":
        u = RANDOM.choice([0.0, -0.0], size=u.shape)
    return u


def outcome(
    function: Callable[..., Any], u: np.ndarray, state: str, order: Any = "C", *, watched: bool = True
) -> tuple[Any, ...]:
    """With `watched` the program is called for each warning, and sees the target's contents at that moment."""
    mine, out = u.copy(), np.full(u.shape, 7.0, order=order)
    error = ""
    seen: list[Any] = []

    def show(message: Any, *others: Any) -> None:
        seen.append((str(message), out.tobytes()))

    with warnings.catch_warnings(record=True) as caught, np.errstate(**STATES[state]):
        warnings.simplefilter("always")
        if watched:
            warnings.showwarning = show
        try:
            assert function(mine, out) is out
        except FloatingPointError as raised:
            error = str(raised)
    return mine.tobytes(), out.tobytes(), error, [str(warning.message) for warning in caught], seen


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", ALL, ids=lambda program: program.__name__)
def test_bits_and_reports(program: Callable[..., Any], threads: int) -> None:
    for option, value in (("fusion", 2), ("retire_after", 0), ("threads", threads)):
        _core.set_option(option, value)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), program.__globals__, "f"))
    for _ in range(WARM_UP):
        traced(array("ordinary"), array("ordinary"))
    for kind, watched in product(KINDS, (True, False)):
        for state in (
            ("warn", "raise", "ignore") if kind in ("infinite", "overflows") else ("default", "warn")
        ):
            u = array(kind)
            at_once, twice = _core.counter("groups_in_place"), _core.counter("groups_computed_twice")
            given = outcome(traced, u, state, watched=watched)
            assert given == outcome(program, u, state, watched=watched), (kind, state)
            at_once, twice = (
                _core.counter("groups_in_place") - at_once,
                _core.counter("groups_computed_twice") - twice,
            )
            if (kind, state) == ("ordinary", "default") and HAS_CODE:
                assert (at_once > 0) == (program in AT_ONCE or (program in TWICE and not watched)), program
                assert (twice > 0) == (program in TWICE and watched), program
    for kind in ("ordinary", "infinite"):
        u = array(kind)
        assert outcome(traced, u, "warn", "F") == outcome(program, u, "warn", "F"), kind


@pytest.mark.parametrize("columns", [90, 301])
@pytest.mark.parametrize("program", AT_ONCE, ids=lambda program: program.__name__)
def test_every_element_is_looked_at(program: Callable[..., Any], columns: int) -> None:
    """If one element is too large, nothing is written before that is known."""
    for option, value in (("fusion", 2), ("retire_after", 0), ("threads", 2)):
        _core.set_option(option, value)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), program.__globals__, "f"))
    u = RANDOM.normal(size=(404, columns + columns % 2))
    for _ in range(WARM_UP):
        traced(u, u.copy())
    rows, last = u.shape[0] - 1, u.shape[1] - 1
    places = [(0, 0), (0, last), (rows, 0), (rows, last), (1, 1), (rows - 1, last - 1)]
    places += [(RANDOM.integers(rows), RANDOM.integers(last)) for _ in range(6)]
    for place in places:
        for value in (np.inf, -1.7e308, -np.nan, 1e301):
            odd = u.copy()
            odd[place] = value
            at_once = _core.counter("groups_in_place")
            assert outcome(traced, odd, RAISING) == outcome(program, odd, RAISING), (place, value)
            at_a_corner = place[0] in (0, rows) and place[1] in (0, last)
            is_read = place[0] < u.shape[0] // 2 if program is two_targets else not at_a_corner
            assert not is_read or _core.counter("groups_in_place") == at_once, (place, value)


def test_products_that_underflow_are_reported() -> None:
    def scaled(u, out):
        out[:, :] = (u * 1e-200 + u) * 1e-200 - u * 2.0 + u
        return out

    for option, value in (("fusion", 2), ("retire_after", 0)):
        _core.set_option(option, value)
    traced = tagalong.trace(scaled)
    u = np.full((401, 300), 1e-100)
    for _ in range(WARM_UP):
        traced(u, u.copy())
    for state in ("ignore", "warn", "raise"):
        at_once = _core.counter("groups_in_place")
        assert outcome(traced, u, state) == outcome(scaled, u, state), state
        if HAS_CODE:
            assert (_core.counter("groups_in_place") > at_once) == (state == "ignore")


def test_elements_between_those_of_a_part_do_not_matter() -> None:
    """If a part has larger gaps between its elements than a scratch array may have, the run is speculative."""

    def of_columns(u, out):
        out[:] = (u[:, 0] + u[:, 1]) * 0.5 + u[:, 0] - 1.0
        return out

    for option, value in (("fusion", 2), ("retire_after", 0)):
        _core.set_option(option, value)
    for columns, kind in ((2, "all are read"), (3, "NaNs between"), (700, "far apart")):
        traced = tagalong.trace(FunctionType(of_columns.__code__.replace(), globals(), "f"))
        u = np.full((20_000, columns), np.nan)
        u[:, :2] = RANDOM.normal(size=(20_000, 2))
        for _ in range(WARM_UP):
            traced(u, np.zeros(20_000))
        at_once = _core.counter("groups_in_place")
        first, second = np.zeros(20_000), np.zeros(20_000)
        with np.errstate(over="raise"):
            assert traced(u, first) is first
        assert first.tobytes() == of_columns(u, second).tobytes(), kind
        if HAS_CODE:
            assert (_core.counter("groups_in_place") > at_once) == (kind == "all are read"), kind


PARTS = {
    "stored": "x[0] += y * 2.0\n    return x",
    "any": "x[a] += y * 2.0\n    return x",
    "returned": "z = x[a]\n    z += y * 2.0\n    return z",
    "twice": "z = x[a]\n    z *= y + 1.0\n    z += y\n    return z.shape",
    "out": "z = x[a]\n    return np.add(y * 2.0, y, out=z)",
    "cast": "x[a] += i\n    return x",
    "several": "z = x[a]\n    z += y\n    w = (y * 2.0 + y * 3.0) * (y * 4.0 + y * 5.0) + y * 6.0\n"
    "    z += w * y + w\n    return z",
}


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("name", PARTS)
def test_the_result_of_computing_into_a_part_is_that_part(name: str, mode: int) -> None:
    """It does not become the array of which it is a part, even if the fusion group ends before the store."""
    _core.set_option("fusion", mode)
    eager, traced = both(f"def f(x, y, a, i):\n    {PARTS[name]}\n")
    for size in (4, 4000, 4):
        for _ in range(5):
            check(
                eager,
                traced,
                lambda size=size: [
                    np.arange(3.0 * size).reshape(3, size),
                    np.arange(float(size)),
                    1,
                    np.arange(size),
                ],
            )


@pytest.mark.parametrize("mode", [1, 2])
def test_an_array_without_dimensions_that_is_a_part_of_a_target(mode: int) -> None:
    _core.set_option("fusion", mode)
    eager, traced = both(
        "def f(x, y, a):\n    v = x[0, ..., a]\n    x += y * 2.0\n    z = x + 1.0\n    return z * v\n"
    )
    for _ in range(5):
        check(eager, traced, lambda: [np.arange(9.0).reshape(3, 3), np.ones((3, 3)), 1])


def of_three_axes(u, out):
    out[1:-1, :, 1:] = (u[1:-1, :, 1:] + u[:-2, :, :-1]) * 0.5 - u[2:, :, 1:]
    return out


@pytest.mark.skipif(not HAS_CODE, reason="nothing is computed in place")
@pytest.mark.parametrize(
    ("program", "shape"),
    [
        *product((stencil, with_a_row), ((801, 701), (90, 20_001), (20_011, 10))),
        (with_a_quotient, (20_011, 10)),  # long rows are divided in blocks
        *product((of_three_axes,), ((40, 50, 61), (3, 3000, 31))),
    ],
)
def test_large_ones_run_after_run(program: Callable[..., Any], shape: tuple[int, ...]) -> None:
    for option, value in (("fusion", 2), ("retire_after", 0), ("threads", 1)):
        _core.set_option(option, value)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), program.__globals__, "f"))
    u = RANDOM.normal(size=shape)
    for _ in range(WARM_UP):
        traced(u, u.copy())
    before = _core.counter("groups_in_place") + _core.counter("groups_computed_twice")
    for kind in ("ordinary",) * 4 + ("a NaN", "infinite") * 4:
        odd = u.copy()
        place = tuple(RANDOM.integers(1, extent - 1) for extent in shape)
        odd[place] = {"ordinary": 1.0, "a NaN": -np.nan, "infinite": np.inf}[kind]
        given = outcome(traced, odd, "default", watched=False)
        assert given == outcome(program, odd, "default", watched=False), kind
        if kind == "ordinary":
            assert given[1] != np.full(shape, 7.0).tobytes()
    assert _core.counter("groups_in_place") + _core.counter("groups_computed_twice") >= before + 2


@pytest.mark.parametrize("size", [1, 2, 7, 64, 65])
@pytest.mark.parametrize(
    "statement", ["v += -np.reciprocal(v)", "v *= -(v - w)", "v -= -(v * w)", "x += -(v + x)"]
)
def test_which_of_two_nans_is_shown(statement: str, size: int) -> None:
    """NumPy takes an in-place operator on one element for a reduction."""
    eager, traced = both(f"def f(x, w):\n    v = x * w\n    {statement}\n    return v, x\n")
    for value in (np.inf, np.inf, np.inf, np.nan, 1.0, -np.inf, np.inf, -np.nan):
        check(eager, traced, lambda value=value: [np.full(size, value), np.zeros(size)], {"all": "ignore"})
    assert tagalong.stats(traced).hits > 0
