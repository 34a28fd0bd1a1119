"""Large arrays that get new contents: tried first, then computed in place, where nothing has to be reported."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
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


TWICE = (stencil, every_second, backwards, with_a_row, two_targets)
ALL = (*TWICE, into_itself, whole_in_place)
KINDS = ("ordinary", "a NaN", "infinite", "overflows", "underflows", "zeros")


def array(kind: str) -> np.ndarray:
    u = RANDOM.normal(size=(ROWS, COLUMNS + 1))
    place = RANDOM.integers(300, ROWS), RANDOM.integers(COLUMNS)
    if kind == "a NaN":
        u[place] = -np.nan
    elif kind == "infinite":
        u[place], u[place[0] - 2, place[1]] = np.inf, -np.inf
    elif kind == "overflows":
        u[place[0] - 1 : place[0] + 1] = 1.7e308
    elif kind == "underflows":
        u[place[0] - 2 : place[0] + 1] = 5e-324
    elif kind == "zeros":
        u = RANDOM.choice([0.0, -0.0], size=u.shape)
    return u


def outcome(function: Callable[..., Any], u: np.ndarray, state: str, order: Any = "C") -> tuple[Any, ...]:
    mine, out = u.copy(), np.full(u.shape, 7.0, order=order)
    error = ""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=state):
        warnings.simplefilter("always")
        try:
            assert function(mine, out) is out
        except FloatingPointError as raised:
            error = str(raised)
    return mine.tobytes(), out.tobytes(), error, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", ALL, ids=lambda program: program.__name__)
def test_bits_and_reports(program: Callable[..., Any], threads: int) -> None:
    for option, value in (("regions", 2), ("retire_after", 0), ("threads", threads)):
        _core.set_option(option, value)
    traced = tagalong.trace(FunctionType(program.__code__.replace(), program.__globals__, "f"))
    for _ in range(WARM_UP):
        traced(array("ordinary"), array("ordinary"))
    before = _core._regions_twice()
    for kind in KINDS:
        for state in ("warn", "raise", "ignore") if kind in ("infinite", "overflows") else ("warn",):
            u = array(kind)
            assert outcome(traced, u, state) == outcome(program, u, state), (kind, state)
            if kind == "ordinary" and "avx512dq" in Path("/proc/cpuinfo").read_text("ascii"):
                assert (_core._regions_twice() > before) == (program in TWICE), program
    for kind in ("ordinary", "infinite"):
        u = array(kind)
        assert outcome(traced, u, "warn", "F") == outcome(program, u, "warn", "F"), kind
