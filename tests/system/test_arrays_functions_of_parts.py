"""np.roll, np.diff and np.flip as operations of fusion groups, which read parts of arrays where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tagalong
from chains_support import FusionRuns, both, check, groups_run

WARM_UP = 5

# name: the function's body, and the numbers of dimensions it takes
ROLLS: dict[str, tuple[str, tuple[int, ...]]] = {
    "without an axis": ("return np.roll(x, n) * 2.0 + y", (1,)),
    "forward and backward": ("return (np.roll(x, 1, 0) - 2.0 * x) + np.roll(x, -1, 0)", (1, 2, 3)),
    "the last axis": ("return np.roll(x, n, axis=-1) * y - x", (1, 2, 3)),
    "both": (
        "return np.roll(x, 1, 0) + np.roll(y, n, -1) + np.roll(x, -n, 0) - np.roll(x, -1, -1)",
        (1, 2, 3),
    ),
    "one after the other": (
        "return np.roll(np.roll(x, 1, 0), -n, -1) + np.roll(np.roll(y, n, -1), n, -1)",
        (1, 2, 3),
    ),
    "two axes at once": ("return np.roll(x, (1, -n), axis=(0, -1)) + x", (2, 3)),
    "one shift for two axes": ("return np.roll(x, n, axis=(0, -1)) + x", (2, 3)),
    "two shifts for one axis": ("return np.roll(x, (n, 2), axis=0) + y", (1, 2)),
    "by keywords": ("return np.roll(x, axis=0, shift=n) + y", (1, 2)),
    "a part": ("return np.roll(x[1:], n, 0) * y[1:] - 1.0", (1, 2, 3)),
    "every second element": ("return np.roll(x[..., ::2], n, -1) + 1.0 - y[..., ::2]", (1, 2)),
    "backwards": ("return np.roll(x[::-1], n, 0) + y * 2.0", (1, 2)),
    "a result": ("v = x * y + 1.0\nreturn v - np.roll(v, n, 0) * 2.0", (1, 2, 3)),
    "a result of a result": ("v = x * y\nw = np.roll(v, 1, 0) - v\nreturn np.roll(w, -n, -1) - w", (1, 2)),
    "it is returned, too": ("v = np.roll(x, n, 0)\nreturn v, v * y + 1.0", (1, 2, 3)),
    "it is returned without an axis": ("v = np.roll(x, n)\nreturn v, v * y + 1.0", (1,)),
    "it is changed in place": ("v = np.roll(x, n, 0)\nv += y\nreturn v - x, v", (1, 2)),
    "one that is changed is rolled": (
        "v = np.roll(x, n, 0)\nv *= y\nw = np.roll(v, 1, 0) + x\nreturn v, w",
        (1, 2),
    ),
    "the operand is changed behind": ("v = np.roll(x, n, 0) * y\nx *= 2.0\nreturn v + 1.0", (1, 2)),
    "the operand is changed before": ("x *= 2.0\nv = np.roll(x, n, 0) * y\nreturn v + 1.0", (1, 2)),
    "into the operand": (
        "x[...] = np.roll(x, n, 0) * 0.5 + np.roll(x, -n, 0) * 0.25 - y * 3.0 + 1.0\nreturn x",
        (1, 2),
    ),
    "a sum": ("return ((np.roll(x, n, 0) - x) * y).sum()", (1, 2)),
    "a sum of rows": ("return ((np.roll(x, n, 0) - x) * y).sum(axis=-1)", (2,)),
    "comparisons": ("return np.where(np.roll(x, n, 0) > y, np.roll(x, -n, -1), y) + x", (1, 2)),
    "a condition": ("return (np.roll(x > 0, n, 0) & (y > 0)) * x", (1, 2)),
    "roots": ("return np.sqrt(np.roll(x, n, 0) ** 2 + np.roll(y, n, -1) ** 2)", (1, 2)),
    "beside a row": ("return np.roll(x, n, 0) * y[:1] + y[0]", (2,)),
    "the end of a group": ("v = x * y\nreturn np.roll(v + x, n, 0)", (1, 2)),
}
DIFFERENCES: dict[str, tuple[str, tuple[int, ...]]] = {
    "of an array": ("return np.diff(x) * 2.0 + np.diff(y)", (1, 2, 3)),
    "along the first axis": ("return np.diff(x, axis=0) * 2.0 + np.diff(y, 1, 0)", (1, 2, 3)),
    "of a result": ("v = x * y\nreturn np.abs((np.diff(v) + 180.0) % 360.0 - 180.0)", (1, 2)),
    "a quotient": ("return -9.81 / x[1:] * np.diff(x, axis=0) / np.diff(y, axis=0)", (1,)),
    "a sum of it": ("return (np.diff(x) ** 2).sum()", (1,)),
    "flipped": ("return np.flip(x) * y + np.flip(y, 0) - np.flip(x, axis=-1)", (1, 2)),
    "flipped along two axes": ("return np.flip(x, (0, -1)) * y + x", (2, 3)),
}
PARTS: dict[str, tuple[str, tuple[int, ...]]] = {
    "a part of a part": ("return x[1:][:-1] * 2.0 + y[2:][..., ::-1]", (1, 2)),
    "a row as a column": ("return x[0][:, None] * y[1][None, :] - x[0][None, :]", (2,)),
    "of a result": ("v = x * y\nreturn v[1:][..., 1:] - v[:-1][..., :-1] * 2.0", (1, 2, 3)),
    "it is rolled": ("return np.roll(x[1:][..., 1:], n, 0) + y[1:][..., 1:] * 2.0", (2, 3)),
    "it is written": ("x[1:][..., 1:] = y[1:][..., 1:] * 2.0 + x[1:][..., 1:]\nreturn x", (2, 3)),
    "it is written after it was read": (
        "v = x[1:][..., 1:] * 2.0\nx[1:][..., 1:] = v - 1.0\nreturn x * v[0, 0]",
        (2,),
    ),
    "its whole is written": ("v = x[1:]\nx *= 2.0\nreturn v[1:] * y[2:] + 1.0", (1, 2)),
    "other shapes": ("v = x * y + 1.0\nw = v * 2.0 - x\nreturn w[:, None] * v[None, :] - w[None, :]", (1,)),
    "a sum of rows": ("v = x * y\nw = v.sum(axis=0) * 0.5 + 1.0\nreturn w * w[1]", (2,)),
    "views by methods": ("return x.reshape(-1) * y.ravel() - x.T.reshape(-1)[0]", (1, 2)),
    "views by methods with axes": ("return x.swapaxes(0, -1) * y.transpose() + y.T", (1, 2)),
}
VIEWS = {"views by methods", "its whole is written"}  # which of them are groups depends on the layouts
OTHERS = {
    "one call": "return np.roll(x, n, 0)",
    "one difference": "return np.diff(x)",
    "two differences": "return np.diff(x, 2) + 1.0",
    "a value in front": "return np.diff(x, prepend=0.0) + y",
    "a shift that is a float": "return np.roll(x, float(n)) + y",
    "an axis too many": "return np.roll(x, n, 7) + y",
    "an axis twice": "return np.flip(x, (0, 0)) + y",
    "no shift": "return np.roll(x, (), 0) + y",
    "an unknown name": "return np.roll(x, n, wrong=0) + y",
    "an argument twice": "return np.roll(x, n, shift=2) + y",
    "more shifts than axes": "return np.roll(x, (1, 2, 3), (0, 0)) + y",
    "a list": "return np.roll([1.0, 2.0], n) + y[:2]",
    "flat rows": "return np.roll(x[None, :], n) + y",
    "a difference of conditions": "return np.diff(x > 0) & (y[1:] > 0)",
}
SHAPES = {1: (37, 3000), 2: (7, 9), 3: (3, 5, 6)}
DTYPES = ("f8", "f4", "i8", "u1", "i2", "c16")


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()


def operands(shape: tuple[int, ...], dtype: str = "f8", shift: Any = 2, order: str = "C") -> list[Any]:
    x = np.random.default_rng(3).uniform(-5.0, 9.0, shape).astype(dtype)
    x = np.asarray(x, order="F" if order == "F" else "C")
    y = (x * 2 - 1).astype(dtype)
    if order == "reversed":
        x, y = x[..., ::-1], y[..., ::-1]
    return [x, y, shift]


def shapes(dimensions: tuple[int, ...]) -> list[tuple[int, ...]]:
    known = {
        1: [(37,), (3000,), (1,), (2,)],
        2: [(7, 9), (40, 300), (1, 5), (5, 1)],
        3: [(3, 5, 6), (2, 1, 40)],
    }
    return [shape for number in dimensions for shape in known[number]]


def program(body: str) -> tuple[Any, Any]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return both(f"def f(x, y, n):\n{lines}")


@pytest.mark.parametrize("name", ROLLS | DIFFERENCES | PARTS)
def test_is_fused(name: str) -> None:
    body, dimensions = (ROLLS | DIFFERENCES | PARTS)[name]
    for shape in shapes(dimensions):
        eager, traced = program(body)
        for _ in range(WARM_UP):
            check(eager, traced, lambda shape=shape: operands(shape))
        ran = groups_run()
        check(eager, traced, lambda shape=shape: operands(shape))
        if min(shape) > 2 and name not in VIEWS:
            assert groups_run() > ran, tagalong.explain(traced)
            if name != "the operand is changed before":
                assert "real_frame" not in str(tagalong.explain(traced))
        for shift in (0, -1, 3, 100, -100, True, np.int64(2), 2**70, 1.5):
            check(eager, traced, lambda shape=shape, shift=shift: operands(shape, shift=shift))


@pytest.mark.parametrize("order", ["C", "F", "reversed"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_and_layouts(dtype: str, order: str) -> None:
    for body, dimensions in (ROLLS | DIFFERENCES | PARTS).values():
        for shape in shapes(dimensions)[-2:]:
            eager, traced = program(body)
            for _ in range(WARM_UP):
                check(
                    eager, traced, lambda shape=shape: operands(shape, dtype, order=order), {"all": "ignore"}
                )


@pytest.mark.parametrize("name", OTHERS)
def test_is_not_fused(name: str) -> None:
    eager, traced = program(OTHERS[name])
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands((37,)))
        check(eager, traced, lambda: operands((1,)))


def test_shifts_are_read_in_each_run() -> None:
    eager, traced = both("def f(x, y, n):\n    return np.roll(x, n, (0, 1)) * y + x\n")
    for number in range(2 * WARM_UP):
        shift = (number, -1)
        check(eager, traced, lambda shift=shift: operands((7, 9), shift=shift))
    for shift in ((1, 2, 3), (1, 1.5), [1, 2], (1,), 2):
        check(eager, traced, lambda shift=shift: operands((7, 9), shift=shift))
    assert groups_run() > 0


def test_layouts_that_change() -> None:
    eager, traced = both("def f(x, y, n):\n    return np.roll(x, n, 0) * y + np.roll(y, 1, -1)\n")
    for number in range(3 * WARM_UP):
        order = ("C", "F", "reversed")[number % 3]
        check(eager, traced, lambda order=order: operands((7, 9), order=order))
    view = np.arange(700.0).reshape(7, 10, 10)[:, ::2, 3]
    check(eager, traced, lambda: [view.copy("K"), view, 1])
    check(eager, traced, lambda: [np.broadcast_to(np.arange(9.0), (7, 9)), np.ones((7, 9)), 1])


def test_loops() -> None:
    source = (
        "def f(x, y, n):\n    for i in range(n):\n"
        "        x = x + 0.1 * (np.roll(x, 1, 0) + np.roll(x, -1, 0) - 2.0 * x) + 0.01 * np.roll(y, i, -1)\n"
        "        y[1:] += np.diff(x, axis=0)\n    return x, y\n"
    )
    eager, traced = both(source)
    for _ in range(WARM_UP):
        for shape in ((37,), (7, 9), (50, 64)):
            check(eager, traced, lambda shape=shape: operands(shape, shift=30))
    assert groups_run() > 50, tagalong.explain(traced)


def test_large_temporaries_are_reused_as_in_eager_execution() -> None:
    # A result with an axis owns its memory, so eager NumPy may compute into it; one without an axis does not.
    for body in (
        "return np.roll(x, n, 0) - y",
        "return y - np.roll(x, n) + np.roll(y, n)",
        "return x * np.roll(y, 1, 0)",
    ):
        eager, traced = program(body)
        for special in (0.0, np.nan, -np.nan):

            def make(special: float = special) -> list[Any]:
                x, y, shift = operands((300_000,))
                x[5::1000] = special
                y[3::1000] = -special
                return [x, y, shift]

            for _ in range(WARM_UP):
                check(eager, traced, make)


def test_threads() -> None:
    from tagalong import _core

    _core.set_option("threads", 2)
    _core.set_option("min_part", 1024)
    try:
        for name in ("both", "one after the other", "a result", "a sum"):
            eager, traced = program(ROLLS[name][0])
            for _ in range(WARM_UP):
                check(eager, traced, lambda: operands((300, 500)))
    finally:
        _core.set_option("threads", 1)


UNUSED = {
    "an index": "c = a + b\n    d = c[3]\n    return c * 2",
    "the last one": "c = a + b\n    d = c[-1]\n    return a",
    "a row and a slice": "c = a + b\n    d = c[3, 1:]\n    return c * 2",
    "an ellipsis": "c = a + b\n    d = c[..., 0]\n    return c * 2",
    "of an operand": "d = a[-1]\n    return a * b + a",
    "without a name": "(a + b)[-1]\n    return a * b + a",
    "in a tuple": "c = a + b\n    t = (c[3], c)\n    return t[1] * 2 - b",
    "dropped": "c = a + b\n    d = c[3]\n    d = c * 2\n    return d - a",
    "behind others": "c = a - b\n    e = c[1:]\n    d = c[-1]\n    return e * 2 - e",
}


@pytest.mark.parametrize("body", UNUSED.values(), ids=UNUSED.keys())
def test_indices_of_parts_that_are_not_used(body: str) -> None:
    """An index that is out of bounds raises IndexError, even if the part is not read."""
    for shape, others in (((8,), [(0,), (2,)]), ((8, 8), [(0, 8), (2, 2), (8, 0), (3, 8)])):
        eager, traced = both(f"def f(a, b):\n    {body}\n")
        for each in [*[shape] * WARM_UP, *others, shape, *others]:
            check(eager, traced, lambda each=each: [np.ones(each), np.full(each, 2.0)])
