"""Reductions at the end of a fusion group: NumPy's bits, without making the array that is reduced."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import tagalong
from array_programs import CODES
from arrays_support import ERRSTATES, sample
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

SIZES = (1, 2, 7, 8, 9, 127, 128, 129, 1023, 1024, 1025, 2049, 5000, 8192, 8193, 16_400, 100_003)
FORMS = {
    "sum": ("np.sum(x * y - x)", "dfilBH"),
    "sum method": ("(x * y - x).sum()", "dfilBH"),
    "mean": ("np.mean(x * y - x)", "df"),
    "mean method": ("(x * y - x).mean()", "df"),
    "max": ("np.max(x * y + x)", "dfilBH"),
    "min method": ("(x * y + x).min()", "dfilBH"),
    "prod": ("np.prod(x * y)", "dfilBH"),
    "count": ("(x * y > x).sum()", "dfilBH"),
    "share": ("np.mean(x * y > x)", "dfilBH"),
    "any": ("np.any(x + y > x)", "dfilBH"),
    "all": ("(x + y >= x).all()", "dfilBH"),
}


@pytest.fixture(autouse=True)
def fusion() -> None:
    """Enables the engine's option, which is off."""
    FusionRuns.begin()


@pytest.mark.parametrize("name", FORMS)
def test_reductions(name: str) -> None:
    """Sizes around those at which pairwise summation divides."""
    expression, codes = FORMS[name]
    for code in codes:
        eager, traced = both(f"def f(x, y):\n    return {expression}\n")
        for size in (10, 10, 10, 10, *SIZES):
            made = [sample(code, (size,), "ordinary"), sample(code, (size,), "ordinary")]
            before = groups_run()
            check(eager, traced, lambda made=made: made, {"all": "ignore"})
        assert groups_run() > before, tagalong.explain(traced)


@pytest.mark.parametrize("kind", ["extreme", "bits"])
def test_special_values(kind: str) -> None:
    """Zeros of both signs, infinities and NaNs with payloads, overflows."""
    random = Random(f"reductions {kind}")
    for name, (expression, _) in FORMS.items():
        eager, traced = both(f"def f(x, y):\n    a = {expression}\n    return a\n")
        for call in range(30):
            code = random.choice(CODES)
            size = random.choice(SIZES)
            made = [sample(code, (size,), kind if call > 4 else "ordinary") for _ in range(2)]
            errstate = random.choice(ERRSTATES) if call > 4 else {"all": "ignore"}
            try:
                check(eager, traced, lambda made=made: made, errstate)
            except AssertionError as error:
                raise AssertionError(f"{name} {code} {size} {errstate}") from error


def line(*shape: int, order: Any = "C") -> np.ndarray:
    return np.array(np.linspace(1, 2, int(np.prod(shape))).reshape(shape), order=order)


PROGRAMS = {
    "Fortran order": ("s = (x * y - x)\n    return s.sum(), s", (30, 40), "F"),
    "a row": ("return np.sum((x - y[0]) ** 2 * 0.5)", (30, 40), "C"),
    "transposed": ("return np.sum((x.T - y.T) ** 2), np.max(x.T * y.T)", (300, 400), "C"),
    "softmax": ("e = np.exp(x - np.max(x))\n    return e / np.sum(e)", (3000,), "C"),
    "in place": ("x += y * 2.0\n    return x.sum()", (3000,), "C"),
    "several": (
        "a = x * y\n    b = a - x\n    return a.sum(), b.max(), b.mean(), (a > b).sum()",
        (5000,),
        "C",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    body, shape, order = PROGRAMS[name]
    eager, traced = both(f"def f(x, y):\n    {body}\n")
    for _ in range(8):
        before = groups_run()
        check(eager, traced, lambda: [line(*shape, order=order), line(*shape, order=order)])
    assert groups_run() > before, tagalong.explain(traced)


def test_no_elements() -> None:
    """For empty arrays eager execution warns or raises."""
    for expression, _ in FORMS.values():
        eager, traced = both(f"def f(x, y):\n    return {expression}\n")
        for size in (5, 5, 5, 5, 0, 0, 5):
            check(eager, traced, lambda size=size: [line(size), line(size)])


def test_functions_may_be_bound_to_something_else() -> None:
    module = type(np)("m")
    module.total = np.sum  # type: ignore[attr-defined]
    eager, traced = both("def f(x, y):\n    return m.total(x * y + x)\n", m=module)
    for function in (np.sum, np.max, lambda x: x.shape, np.sum):
        module.total = function  # type: ignore[attr-defined]
        for _ in range(6):
            check(eager, traced, lambda: [line(9), line(9)])


AXES = (
    "axis=-1",
    "axis=0",
    "axis=(0, 2)",
    "axis=(1, 2)",
    "1",
    "(2, 0, 1)",
    "None",
    "axis=(0, 1, 2), keepdims=True",
)
SHAPES = ((2, 3, 4), (3, 1, 5), (1, 1, 1), (40, 3, 7), (2, 2, 1500), (2, 1500, 2), (3, 33, 40), (1, 9, 1))


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", [name for name in FORMS if not name.endswith("method")])
def test_along_axes(name: str, axes: str) -> None:
    """In C order, in any other order and with a broadcast operand; with and without the axes."""
    random = Random(f"axes {name} {axes}")
    expression, codes = FORMS[name]
    value = expression[expression.index("(") + 1 : -1] if expression.startswith("np") else expression[1:-5]
    keeps = random.choice(("", ", keepdims=True")) if axes.startswith("axis") and "keep" not in axes else ""
    function = {"count": "sum", "share": "mean", "all": "all"}.get(name, name)
    value = "x + y >= x" if name == "all" else "x * y > x" if name == "count" else value
    eager, traced = both(f"def f(x, y):\n    return np.{function}({value}, {axes}{keeps})\n")
    for shape in SHAPES:
        for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
            code = random.choice(codes)
            turned = [sample(code, tuple(shape[i] for i in order), "ordinary") for _ in range(2)]
            made = [one.transpose(np.argsort(order)) for one in turned]
            if random.random() < 0.3:
                made[1] = made[1][:1]
            before = groups_run()
            for _ in range(4):
                check(eager, traced, lambda made=made: made, {"all": "ignore"})
            if made[0].shape == made[1].shape:
                assert groups_run() > before, tagalong.explain(traced)


def test_invalid_axes() -> None:
    """Two equal axes, a missing axis, and objects that are not numbers."""
    for axes in (
        "axis=3",
        "axis=-3",
        "axis=(0, 0)",
        "axis=()",
        "axis=1.0",
        "axis=True",
        "axis=(0, 1), keepdims=2",
    ):
        eager, traced = both(f"def f(x, y):\n    return np.sum(x * y + x, {axes})\n")
        for _ in range(6):
            check(eager, traced, lambda: [line(3, 4), line(3, 4)])


def test_an_axis_that_changes() -> None:
    """An axis given as an operand is checked in each run; so is the number of dimensions."""
    eager, traced = both("def f(x, y, n):\n    return (x * y + x).sum(axis=n)\n")
    for shape in ((3, 4), (2, 3, 4), (5,)):
        for axis in (0, -1, None, (0,), len(shape) - 1, 0):
            for _ in range(3):
                check(eager, traced, lambda axis=axis, shape=shape: [line(*shape), line(*shape), axis])
    assert groups_run() > 10


# Reductions along the last or the first axes, and operations on the results: rows in cache, one pass.
ROWS = {
    "softmax": "e = np.exp(x - y)\n    return e / e.sum(axis=-1, keepdims=True)",
    "softmax in place": "e = np.exp(x - y)\n    e /= e.sum(axis=-1, keepdims=True)\n    return e",
    "whole softmax": """e = x * y
    e = np.exp(e - e.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)""",
    "norm": "d = x - y\n    return np.sqrt((d * d).sum(axis=-1))",
    "norm and more": "d = x - y\n    return np.sqrt((d * d).sum(axis=-1, keepdims=True)), d",
    "normalised": """d = x * y
    m = d.mean(axis=-1, keepdims=True)
    d = d - m
    v = (d * d).mean(axis=-1, keepdims=True)
    return d / np.sqrt(v + 1e-5), m, v""",
    "variance": """d = x * y
    s = d.sum(axis=-1)
    q = (d * d).sum(axis=-1)
    return q / 40 - s * s / 1600, s""",
    "caller's array": "d = x - y\n    x += d.min(axis=-1, keepdims=True)\n    return x, (d < x).any(-1)",
    "counts": "d = x + y > x\n    return x / (1 + d.sum(axis=-1, keepdims=True)), d.mean(-1, keepdims=True) * x",
    "two axes": "d = x * y + x\n    return d - d.max(axis=(-2, -1), keepdims=True)",
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str) -> None:
    random = Random(f"rows {name}")
    run = 0
    for shape in ((3, 40), (40, 3), (2, 3, 5), (70, 70), (5, 1025), (2, 8000), (2, 9000), (4, 1), (1, 6)):
        for order in ("C", "C", "F"):
            code = random.choice("ddf")
            kind = random.choice(("ordinary", "ordinary", "extreme"))
            eager, traced = both(f"def f(x, y):\n    {ROWS[name]}\n")
            made = [np.array(sample(code, shape, kind), order=order) for _ in range(2)]
            if random.random() < 0.3:
                made[1] = made[1][..., :1]
            before = groups_run()
            for call in range(6):
                errstate = {"all": "ignore"} if call < 4 else random.choice(ERRSTATES)
                check(eager, traced, lambda made=made: [one.copy("K") for one in made], errstate)
            run += groups_run() > before
    assert run > 15, tagalong.explain(traced)


def test_rows_of_other_shapes() -> None:
    """A plan made for rows works for other sizes, and leaves other layouts to the general path."""
    eager, traced = both(f"def f(x, y):\n    {ROWS['normalised']}\n")
    for shape in ((4, 5), (100, 200), (4, 5), (2, 9001), (5, 4)):
        for turn in (False, True):
            made = [line(*shape), line(*shape)]
            if turn:
                made = [one.T for one in made]
            for _ in range(5):
                check(eager, traced, lambda made=made: made)
    assert groups_run() > 10


def test_an_axis_is_not_taken_twice() -> None:
    """By position and by name: eager execution raises, so only a trace of another function replays it."""
    for given in ("1, axis=0", "(1,), axis=0", "1, axis=None", "1, axis=(0, 1)", "1, axis=1"):
        eager, traced = both(f"def f(call, x):\n    y = np.negative(x)\n    return call(y, {given})")
        for call in (np.roll, np.sum, np.roll, np.max, np.any, np.argmax, np.sum):
            for _ in range(4):
                check(eager, traced, lambda call=call: [call, line(3, 4)])
        assert tagalong.stats(traced).hits > 0


# Existing arrays get new contents, which are reduced along axes.
WRITTEN = {
    "by a row": "x -= y[0]\n    return x.sum(axis=axis)",
    "by a column": "x -= y[..., :1]\n    return x.mean(axis=axis), x.max(axis=axis)",
    "by a whole": "x *= y\n    return x.max(axis=axis, keepdims=True)",
    "by a number": "x *= 2.5\n    x += y[0]\n    return x.sum(axis), x.min(axis)",
    "out": "return np.add(x * 2, y[0], out=x).sum(axis=axis)",
    "part": "v = x[1:]\n    v += y[0]\n    return v.sum(axis=axis)",
    "item": "x += y[0]\n    x[0] = x.sum(axis=0)",
    "places": "x -= y[0]\n    return x.argmax(axis=axis)",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written_arrays_are_reduced_in_their_layout(name: str) -> None:
    random = Random(f"written {name}")
    for code in "dfl":
        for axis in (0, 1, -1, (0, 1)):
            eager, traced = both(f"def f(x, y, axis):\n    {WRITTEN[name]}\n")
            for shape in ((4, 4), (3, 40), (40, 3), (4, 5, 6), (70, 70), (2, 3000), (3000, 2)):
                layout = random.choice(("C", "C", "F", "wide", "turned"))
                wide = sample(code, (*shape[:-1], 2 * shape[-1]), "ordinary")
                made = [sample(code, shape, "ordinary"), sample(code, shape, "ordinary")]

                def operands(made: Any = made, wide: Any = wide, layout: str = layout) -> list[Any]:
                    x = np.array(made[0], order="F" if layout == "F" else "C")
                    x = wide.copy()[..., ::2] if layout == "wide" else x
                    return [x[::-1] if layout == "turned" else x, made[1].copy(), axis]

                for _ in range(4):
                    check(eager, traced, operands, {"all": "ignore"})
            assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("code", "df")
@pytest.mark.parametrize("axis", [0, -1, (0, 2), (1, 2), 1])
def test_which_of_two_zeros_an_extreme_along_axes_is(axis: Any, code: str, mode: int) -> None:
    """It depends on where rows are divided, which must not change."""
    _core.set_option("fusion", mode)
    chance = np.random.default_rng(3)
    for source in (
        "np.trunc((x - y) * 0.1).max({0})",
        "(np.minimum(x, y) % x).min({0})",
        "(x * y).max({0}, keepdims=True)",
    ):
        eager, traced = both(f"def f(x, y):\n    return {source.format(f'axis={axis}')}\n")
        for shape in ((7, 10, 520), (40, 3, 300), (5, 4, 7), (2, 2, 1000), (1, 2, 1025), (2, 3, 3000)):
            x = chance.choice([-1.0, 1.0, 2.0, -2.0, 0.5], shape).astype(code)
            y = chance.choice([-1.0, 0.0, -0.0, 1.0], shape).astype(code)
            for _ in range(4):
                check(eager, traced, lambda x=x, y=y: [x, y], {"all": "ignore"})
        assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0


ALONG = (
    "max(axis=-1)",
    "min(axis=1)",
    "max(axis=0)",
    "sum(axis=-1)",
    "argmax(axis=-1)",
    "prod(axis=1)",
    "any(axis=-1)",
)
OF_ALL = ("sum()", "mean()", "std()", "max()", "prod()")


@pytest.mark.parametrize("along", ALONG)
@pytest.mark.parametrize("of_all", OF_ALL)
def test_rows_and_all_elements(along: str, of_all: str) -> None:
    """Extremes of rows take whole rows, and a sum of all elements cuts the elements otherwise."""
    for body in (
        f"v = (a * 2).{along}\n    return v, (a + 1.0).{of_all}",
        f"s = (a + 1.0).{of_all}\n    return s, (a * 2).{along}",
        f"v = a.{along}\n    return v, (a + 1.0).{of_all}, (a - 1.0).{of_all}",
    ):
        eager, traced = both(f"def f(a):\n    {body}\n")
        for shape in ((5, 13), (17, 64), (64, 17), (3, 5000), (1000, 10), (20, 30, 4)):
            for dtype in ("float64", "float32", "int64"):
                made = np.random.default_rng(5).uniform(-9, 9, shape).astype(dtype)
                for _ in range(3):
                    check(eager, traced, lambda made=made: [made], {"all": "ignore"})
