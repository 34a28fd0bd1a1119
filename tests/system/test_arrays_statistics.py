"""np.round, np.var and np.std as operations of fusion groups, and reductions along short axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import NUMPY_2, misaligned
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

WARM_UP = 5
LARGE = 40_000

ROUNDINGS = {
    "to integers": "return x - np.round(x / 3.0) * 3.0",
    "the method": "v = x * y\nreturn v.round() + v.round(decimals=0)",
    "its other names": "return np.around(x * y, 1) + np.round(a=y, decimals=-1)",
    "to decimals": "return np.round(x * y, 2) + 1.0",
    "to tens": "return np.round(x * 100.0, -2) * y",
    "of an array": "return np.round(x, 3) * y",
    "of parts": "return np.round(x[1:], 1) * y[1:]",
    "of a quotient": "return (x / y).round(22) * 2.0",
    "it is returned, too": "v = np.round(x, 1)\nreturn v, v * y",
    "of columns": "v = np.round((x * y).sum(axis=-1, keepdims=True), 1)\nreturn x - v",
    "and summed": "return np.round(x * y, 1).sum()",
}
NOT_ROUNDED = {
    "too many decimals": "return np.round(x * y, 23) + 1.0",
    "decimals that are no int": "return np.round(x * y, 1.5) + 1.0",
    "decimals that differ": "return np.round(x * y, x.size) + 1.0",
    "into an array": "return np.round(x, 1, y) + 1.0",
    "a number": "return np.round(2.567, 1) * x + y",
    "an unknown name": "return np.round(x, places=1) + y",
}
SPREADS = {
    "all": "return (x * y).std()",
    "of an array": "return np.std(x), np.var(y)",
    "the variance": "return np.var(x - y, ddof=1)",
    "along rows": "return (x * y).std(axis=-1)",
    "along columns": "return np.std(x + y, 0)",
    "of an array along rows": "return np.std(x, axis=-1, ddof=1)",
    "of an array along columns": "return y.var(axis=0)",
    "scores": "return (x - x.mean(axis=0)) / x.std(axis=0)",
    "scores of rows": "return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-9)",
    "scores of all": "return (x - x.mean()) / x.std()",
    "by keywords": "return np.var(x * 2.0, ddof=2, keepdims=True, axis=0, dtype=None)",
    "used": "v = np.sqrt(x * x + 1.0)\nreturn v / v.std() + v.var(axis=0, ddof=1)",
    "of several axes": "return (x * y).var(axis=(0, -1))",
}
NOT_SPREAD = {
    "another dtype": "return np.std(x * y, dtype=np.float64)",
    "into an array": "return np.var(x * y, axis=0, out=y[0])",
    "an axis too many": "return (x * y).std(axis=7)",
    "a float": "return (x * y).var(ddof=0.5)",
    "no axes": "return (x * y).var(axis=())",
    "dimensions of all": "return (x * y).std(keepdims=True)",
    "some elements": "return np.std(x * y, where=x > 0)",
    "a number": "return np.std(2.5) * x",
}
SHAPES = [(37,), (3000,), (1,), (2,), (7, 9), (40, 300), (1, 5), (5, 1), (3, 5, 6), (2, 1, 40)]
KINDS = ("ordinary", "special", "huge", "zeros")


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()


def values(shape: tuple[int, ...], dtype: str = "f8", kind: str = "ordinary") -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    if kind == "special":
        made = random.choice([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, np.inf, np.nan, -np.nan, 1e-320, 3.0], shape)
    elif kind == "huge":
        made = random.choice([1e308, -1e308, 1e300, 1.0, 1e38, -3e38], shape)
    elif kind == "zeros":
        made = random.choice([0.0, -0.0], shape)
    else:
        made = random.uniform(-50.0, 90.0, shape)
    with np.errstate(all="ignore"):
        return made.astype(dtype)


def operands(
    shape: tuple[int, ...], dtype: str = "f8", order: str = "C", kind: str = "ordinary"
) -> list[np.ndarray]:
    x = values(shape, dtype, kind)
    with np.errstate(all="ignore"):
        y = (x * 2 - 1).astype(dtype)
    if order == "F":
        return [np.asfortranarray(x), np.asfortranarray(y)]
    if order == "reversed":
        return [x[..., ::-1], y[::-1]]
    if order == "gaps":
        return [np.repeat(each, 2, axis=0)[::2] for each in (x, y)]
    if order == "gaps in rows":
        return [np.repeat(each, 2, axis=-1)[..., ::2] for each in (x, y)]
    if order == "parts":
        return [np.concatenate((each, each), axis=-1)[..., : shape[-1]] for each in (x, y)]
    if order == "transposed":
        return [np.moveaxis(np.ascontiguousarray(np.moveaxis(each, 0, -1)), -1, 0) for each in (x, y)]
    return [misaligned(each) for each in (x, y)] if order == "misaligned" else [x, y]


def program(body: str) -> tuple[Any, Any]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return both(f"def f(x, y):\n{lines}")


@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounding_is_fused(name: str) -> None:
    for shape in SHAPES:
        eager, traced = program(ROUNDINGS[name])
        for dtype in ("f8", "f4"):
            for _ in range(WARM_UP):
                check(eager, traced, lambda shape=shape, dtype=dtype: operands(shape, dtype))
            ran = groups_run()
            check(eager, traced, lambda shape=shape, dtype=dtype: operands(shape, dtype))
            # Sums along an axis of one element end groups.
            if min(shape) > 1 and (name != "of columns" or len(shape) > 1):
                assert groups_run() > ran, tagalong.explain(traced)
                assert "real_frame" not in str(tagalong.explain(traced))


@pytest.mark.parametrize("order", ["C", "F", "reversed", "gaps", "gaps in rows", "transposed", "misaligned"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "c16", "g"])
def test_rounding_dtypes_and_layouts(dtype: str, order: str) -> None:
    for body in ROUNDINGS.values():
        for shape in ((37,), (7, 9), (3, 5, 6), (5, 1, 4)):
            eager, traced = program(body)
            for _ in range(WARM_UP):
                check(eager, traced, lambda shape=shape: operands(shape, dtype, order), {"all": "ignore"})


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_special_values(kind: str) -> None:
    for body in ROUNDINGS.values():
        for errstate in ({"all": "ignore"}, {"all": "warn"}, {"all": "raise"}):
            for shape in ((300,), (7, 9), (LARGE,)):
                eager, traced = program(body)
                for _ in range(WARM_UP):
                    check(eager, traced, lambda shape=shape: operands(shape, kind=kind), errstate)


@pytest.mark.parametrize("decimals", [*range(-24, 25, 3), 1, -1, 2, 9, 10])
def test_rounding_to_any_decimals(decimals: int) -> None:
    for dtype in ("f8", "f4"):
        eager, traced = program(f"return np.round(x * y, {decimals}) - 1.0")
        for kind in ("ordinary", "huge", "special"):
            for _ in range(WARM_UP):
                check(eager, traced, lambda dtype=dtype, kind=kind: operands((300,), dtype, kind=kind))


@pytest.mark.parametrize("name", [*NOT_ROUNDED, *NOT_SPREAD])
def test_is_not_fused(name: str) -> None:
    eager, traced = program((NOT_ROUNDED | NOT_SPREAD)[name])
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands((4, 9)))
        check(eager, traced, lambda: operands((1, 1)))


def test_functions_that_the_program_replaces() -> None:
    eager, traced = program("return np.round(x * y) + np.std(x) * 2.0")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands((37,)))
    kept = np.round, np.std
    try:
        np.round = np.std = lambda a: a * 0.0 + 7.0
        check(eager, traced, lambda: operands((37,)))
    finally:
        np.round, np.std = kept
    check(eager, traced, lambda: operands((37,)))


@pytest.mark.parametrize("name", SPREADS)
def test_spread_is_fused(name: str) -> None:
    for shape in SHAPES:
        if name == "of several axes" and len(shape) == 1:
            continue
        eager, traced = program(SPREADS[name])
        for dtype in ("f8", "f4"):
            for _ in range(WARM_UP):
                check(eager, traced, lambda shape=shape, dtype=dtype: operands(shape, dtype))
            ran = groups_run()
            check(eager, traced, lambda shape=shape, dtype=dtype: operands(shape, dtype))
            if min(shape) > 2 and (dtype == "f8" or NUMPY_2):
                assert groups_run() > ran, tagalong.explain(traced)


@pytest.mark.parametrize(
    "order", ["C", "F", "reversed", "gaps", "gaps in rows", "parts", "transposed", "misaligned"]
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "c16", "g"])
def test_spread_dtypes_and_layouts(dtype: str, order: str) -> None:
    for body in SPREADS.values():
        for shape in ((37,), (7, 9), (3, 5, 6), (5, 1, 4), (9, 1100)):
            eager, traced = program(body)
            for _ in range(WARM_UP):
                check(eager, traced, lambda shape=shape: operands(shape, dtype, order), {"all": "ignore"})


@pytest.mark.parametrize("kind", KINDS)
def test_spread_special_values(kind: str) -> None:
    for body in SPREADS.values():
        for errstate in ({"all": "ignore"}, {"all": "warn"}, {"all": "raise"}):
            for shape in ((300,), (7, 9), (LARGE,)):
                eager, traced = program(body)
                for _ in range(WARM_UP):
                    check(eager, traced, lambda shape=shape: operands(shape, kind=kind), errstate)


def test_no_degrees_of_freedom() -> None:
    for body in ("return (x * y).std(ddof=3)", "return x.var(axis=0, ddof=3)", "return x.std(-1, ddof=3)"):
        eager, traced = program(body)
        for shape in ((9, 8), (2, 8), (3, 3), (8, 2), (0, 4), (1, 2)):
            for _ in range(WARM_UP):
                check(eager, traced, lambda shape=shape: operands(shape))


@pytest.mark.parametrize("order", ["C", "F", "gaps", "gaps in rows", "parts", "reversed", "transposed"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u8", "?", "c16"])
def test_short_axes(dtype: str, order: str) -> None:
    programs = (
        "return (x * y).sum(-1)",
        "return (x * y).sum(axis=0)",
        "return (x * y).sum(axis=1)",
        "return (x * y).sum(axis=1, keepdims=True) * 2",
        "return x.sum(-1), y.sum(axis=0)",
        "return x.sum(axis=1) + y.mean(axis=1)",
        "return (x * y).sum((0, 1)), (x * y).mean((0, -1))",
        "return np.sqrt((x * x).sum(axis=-1)) + 1.0",
        "return (x - y).max(-1), (x * y).min(axis=-1), x.max(axis=1)",
        "return ((x - y) * (x[..., :1] > 3)).sum(axis=0)",
    )
    for body in programs:
        for row in (1, 2, 3, 4, 7, 8, 9, 15, 31, 32, 33, 65):
            eager, traced = program(body)
            for shape in ((20, row), (3, 30, row), (row, 3, 2), (50, row, 3)):
                for _ in range(3):
                    check(eager, traced, lambda shape=shape: operands(shape, dtype, order), {"all": "ignore"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_short_axes_of_special_values(dtype: str, kind: str) -> None:
    for axis in (-1, 0, 1):
        for row in (1, 2, 3, 7, 8, 17):
            body = f"v = x * 0.5 + y\nreturn v.sum(axis={axis}), v.max(axis={axis}), v.min(axis={axis})"
            eager, traced = program(body)
            for shape in ((400, row), (3, 400, row)):
                for errstate in ({"all": "ignore"}, {"all": "warn"}):
                    for _ in range(3):
                        check(eager, traced, lambda shape=shape: operands(shape, dtype, kind=kind), errstate)


def test_short_axes_are_taken_together() -> None:
    eager, traced = program("return (x * y).sum(-1), (x * y).sum(axis=1)")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands((30, 40, 3)))
    summed, added = _core.counter("short_rows_reduced"), _core.counter("short_rows_added")
    together = _core.counter("rows_reduced_together")
    check(eager, traced, lambda: operands((30, 40, 3)))
    assert _core.counter("short_rows_reduced") + _core.counter("rows_reduced_together") > summed + together
    assert _core.counter("short_rows_added") > added


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "u1", "c16"])
def test_short_rows_are_broadcast(dtype: str) -> None:
    programs = (
        "return (x[:, None, :] - y[None, :, :]) * (x[:, :1] > y[:, :1].T)[..., None]",
        "return x[:, None] * y[None] + x[..., :1][None]",
        "return (x[:, None, :] - y[None, :, :]) * x[:, None, ::-1]",
    )
    for body in programs:
        for row in (1, 2, 3, 4, 5, 8, 17):
            eager, traced = program(body)
            for count in (7, 30):
                for order in ("C", "F", "parts"):
                    for _ in range(2):
                        check(
                            eager,
                            traced,
                            lambda row=row, count=count, order=order: operands((count, row), dtype, order),
                            {"all": "ignore"},
                        )
