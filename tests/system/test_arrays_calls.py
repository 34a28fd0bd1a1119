"""Calls of NumPy's functions, of methods of arrays, and `@`, without frames: what a program can see is as without it.

Calls that raise or report something, subclasses, replaced functions and other operands are left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, misaligned
from chains_support import Function, FusionRuns, both, check, groups_run
from tagalong import _core

WARM_UP = 3
Maker = Callable[[], list[Any]]


def traced(source: str, **names: Any) -> tuple[Function, Function]:
    # Array operations look NumPy up.
    return both(f"def f(a, b):\n    np.negative(np.ones(2))\n    {source}", **names)


def direct_calls(source: str, make: Maker, errstate: Any = None, **names: Any) -> int:
    """Compares some calls with eager execution; how many calls of NumPy's functions a later call makes directly."""
    eager, function = traced(source, **names)
    for _ in range(WARM_UP):
        check(eager, function, make, errstate)
    before = _core.counter("numpy_calls_direct")
    check(eager, function, make, errstate)
    return _core.counter("numpy_calls_direct") - before


def doubles(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


VECTORS = (
    "np.dot(a, b)",
    "a.dot(b)",
    "np.inner(a, b)",
    "np.where(np.isnan(a), a, [b])",
    "np.where(a > 0)",
    "np.concatenate((a, b))",
    "np.concatenate([a, b, a], axis=0)",
    "np.empty_like(a).shape",
    "np.arange(5) + np.arange(0.5, 2.0, 0.25).sum()",
    "np.asarray(a)",
    "np.array([1.0, 2.5, 3])",
    "np.array([[a[0], 2.0], [3.0, b[1]]])",
    "np.zeros(4)",
    "np.zeros((2, 3), dtype=np.int64)",
    "np.zeros(len(a), bool)",
    "np.where(a)",
    "a.copy()",
    "a.ravel()",
    "a.flatten()",
    "a.nonzero()",
    "a.argmax()",
    "np.argmin(a)",
    "np.argsort(a)",
    "a.argsort(kind='stable')",
    "np.searchsorted(np.arange(3.0), a)",
    "np.take(a, [0, 1])",
    "np.repeat(a, 2)",
    "a.reshape(-1, 1)",
    "a.reshape((1, -1))",
    "np.reshape(a, (-1, 1))",
    "np.transpose(a)",
    "np.zeros_like(a)",
    "np.ones_like(a)",
    "np.full_like(a, 2.5)",
    "np.full_like(a, -3)",
    "np.copyto(a, 7.0)",
    "np.ones(3)",
    "np.ones((2, 4), dtype=int)",
    "np.ones((), bool)",
    "np.full(3, 0.25)",
    "np.full((2, 2), 4)",
    "np.full((0, 2), True)",
    "np.full((2, 2), 4, float)",
    "np.copy(a)",
    "np.roll(a, 1)",
    "np.roll(a, -17)",
    "np.roll(a, 2, axis=0)",
    "np.stack((a, b))",
    "np.stack([a, b, a], axis=1)",
    "np.stack([a, b], -1)",
    "np.hstack((a, b))",
    "np.vstack([a, b])",
    "np.clip(a, -0.5, 0.25)",
    "a.clip(0.5, -0.5)",
    "np.clip(a, 0.0, 1.0)",
    "np.clip(a, -0.0, np.inf)",
    "np.diff(a)",
    "np.outer(a, b)",
    "np.cumsum(a)",
    "a.cumsum()",
    "np.linalg.norm(a)",
    "np.std(a)",
    "a.std(ddof=1)",
    "np.var(a)",
    "a.var()",
)
MATRICES = (
    "np.concatenate((a, b), axis=1)",
    "a.copy()",
    "a.transpose()",
    "a.swapaxes(0, 1)",
    "np.transpose(a, (1, 0))",
    "a.ravel()",
    "a.reshape(-1)",
    "a.reshape(a.shape[1], a.shape[0])",
    "a.argsort(axis=0)",
    "np.zeros_like(a)",
    "np.full_like(a, 1)",
    "np.copy(a)",
    "np.clip(a, -0.5, 0.25)",
    "np.concatenate((a, b, a))",
    "np.concatenate((a, b, a), -1)",
    "np.roll(a, 1, axis=0)",
    "np.roll(a, -2, axis=1)",
    "np.roll(a, 5, -1)",
    "np.stack((a, b))",
    "np.stack((a, b), axis=1)",
    "np.stack((a, b), axis=2)",
    "np.hstack((a, b))",
    "np.vstack((a, b))",
    "np.std(a)",
    "np.var(a, ddof=1)",
    "np.where([a > 0], a, 0.0)",
)


@pytest.mark.parametrize("size", [2, 3, 10, 130, 1000])
@pytest.mark.parametrize("call", VECTORS)
def test_vectors(call: str, size: int) -> None:
    made = direct_calls(f"return {call}", lambda: [doubles(size), doubles(size) + 0.5])
    if size == 10:
        assert made >= 1


@pytest.mark.parametrize("shape", [(2, 2), (4, 7), (33, 20), (100, 3)])
@pytest.mark.parametrize("call", MATRICES)
def test_matrices(call: str, shape: tuple[int, int]) -> None:
    assert direct_calls(f"return {call}", lambda: [doubles(*shape), doubles(*shape) + 0.5]) >= 1


class Doubled(np.ndarray):
    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return ("seen", function.__name__)


class Plain(np.ndarray):
    pass


class Duck:
    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return ("duck", function.__name__)

    def __repr__(self) -> str:
        return "duck"

    def __matmul__(self, other: Any) -> str:
        return "duck @"

    def __rmatmul__(self, other: Any) -> str:
        return "@ duck"


OPERANDS: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda a: a.astype(np.float32),
    "int64": lambda a: (a * 10).astype(np.int64),
    "int8": lambda a: (a * 10).astype(np.int8),
    "bool": lambda a: a > 0,
    "complex": lambda a: a + 1j,
    "objects": lambda a: a.astype(object),
    "swapped": lambda a: a.astype(">f8"),
    "times": lambda a: (a * 10).astype("m8[s]"),
    "strided": lambda a: np.repeat(a, 2)[::2],
    "reversed": lambda a: a[::-1],
    "misaligned": misaligned,
    "read-only": lambda a: np.broadcast_to(a, a.shape),
    "empty": lambda a: a[:0],
    "single": lambda a: a[:1],
    "column": lambda a: a[:, None],
    "row": lambda a: a[None],
    "none": lambda a: np.float64(a[0]),
    "no dimension": lambda a: np.array(a[0]),
    "list": lambda a: a.tolist(),
    "subclass": lambda a: a.view(Plain),
    "overrides": lambda a: a.view(Doubled),
    "duck": lambda _: Duck(),
    "nan": lambda a: np.where(a > 0, np.nan, a),
    "infinite": lambda a: np.where(a > 0, np.inf, -np.inf),
    "huge": lambda a: a * 1e308,
    "tiny": lambda a: a * 1e-308,
    "zeros": lambda a: a * -0.0,
}


@pytest.mark.parametrize("kind", OPERANDS)
def test_other_operands(kind: str) -> None:
    for call in (*VECTORS, "a @ b", "np.matmul(a, b)"):
        # In the first calls, and after calls with arrays of doubles.
        direct_calls(f"return {call}", lambda: [OPERANDS[kind](doubles(10)), doubles(10) + 0.5])
        direct_calls(f"return {call}", lambda: [doubles(10), OPERANDS[kind](doubles(10))])
        eager, function = traced(f"return {call}")
        for make in (doubles, OPERANDS[kind]):
            for _ in range(WARM_UP):
                check(
                    eager, function, lambda: [make(doubles(10)) if make is not doubles else doubles(10)] * 2
                )  # noqa: B023


@pytest.mark.parametrize("kind", ["complex", "float32", "int64", "bool", "empty", "nan", "infinite", "huge"])
def test_other_matrices(kind: str) -> None:
    for call in (*MATRICES, "a @ b.T", "a.T @ b", "a.T @ a", "a @ a.T"):
        direct_calls(f"return {call}", lambda: [OPERANDS[kind](doubles(4, 5)), OPERANDS[kind](doubles(4, 5))])
        direct_calls(f"return {call}", lambda: [np.asfortranarray(doubles(4, 5)), doubles(8, 5)[::2]])
        direct_calls(f"return {call}", lambda: [doubles(4, 1), doubles(4, 1)])


ERRORS = (
    "np.dot(a, b)",
    "np.concatenate((a, b), axis=3)",
    "np.stack((a, b), axis=4)",
    "np.stack((a, b, a[1:]))",
    "np.stack(())",
    "np.roll(a, 1, axis=2)",
    "np.roll(a, 1, 0, 0)",
    "np.roll(a, shift=1, a=b)",
    "np.roll(a)",
    "np.zeros(-1)",
    "np.ones(-1)",
    "np.ones('a')",
    "np.ones(2**60)",
    "np.full(2)",
    "np.full(2, 'x', float)",
    "np.zeros('a')",
    "np.zeros((2, 3), dtype='no')",
    "np.zeros_like(a, nothing=1)",
    "np.take(a, 1000)",
    "a.reshape(7, 9)",
    "a.std(axis=9)",
    "a.std(ddof=100)",
    "np.cumsum(a, axis=1)",
    "np.linalg.norm(a, 7, 3)",
    "np.full_like(a, 'x')",
    "np.copyto(a, 'x')",
    "np.copyto(np.broadcast_to(a, (2, 10)), 1.0)",
    "np.copyto(a, 1.0, casting='wrong')",
    "np.diff(a, n=-1)",
    "np.outer(a)",
    "a @ b[1:]",
    "a @ 2",
    "np.matmul(a, b[1:])",
    "a.copy(order='Q')",
    "np.hstack(a)",
)


@pytest.mark.parametrize("call", ERRORS)
def test_errors(call: str) -> None:
    source = f"return {call}"
    direct_calls(source, lambda: [doubles(10), doubles(11)])
    helper = "return inner(a, b)"
    space: dict[str, Any] = {"np": np}
    exec(compile(f"def inner(a, b):\n    x = a * 2.0\n    return {call}", "<inner>", "exec"), space)  # noqa: S102
    direct_calls(helper, lambda: [doubles(10), doubles(11)], inner=space["inner"])


@pytest.mark.parametrize("errstate", ERRSTATES)
def test_reports(errstate: dict[str, Any]) -> None:
    for kind in ("infinite", "huge", "nan", "tiny"):
        for call in ("np.diff(a)", "np.cumsum(a)", "np.outer(a, b)", "a.std()", "np.linalg.norm(a)", "a @ b"):
            direct_calls(
                f"return {call}", lambda: [OPERANDS[kind](doubles(10)), OPERANDS[kind](doubles(10))], errstate
            )
        direct_calls(
            "return a @ b", lambda: [OPERANDS[kind](doubles(6, 6)), OPERANDS[kind](doubles(6, 6))], errstate
        )


def products(
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]], cast: Callable[[np.ndarray], np.ndarray]
) -> None:
    for left, right in shapes:
        for source in (
            "return a @ b",
            "return np.matmul(a, b)",
            "a = a @ b\n    return a @ a.T if a.ndim == 2 else a",
        ):
            direct_calls(source, lambda: [cast(doubles(*left)), cast(doubles(*right))])  # noqa: B023


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3,), (3,)),
    ((1,), (1,)),
    ((3, 3), (3,)),
    ((3,), (3, 3)),
    ((2, 3), (3, 4)),
    ((1, 3), (3, 1)),
    ((3, 1), (1, 3)),
    ((1, 1), (1, 1)),
    ((8, 1), (1,)),
    ((1,), (1, 8)),
    ((20, 30), (30, 7)),
    ((64, 64), (64, 64)),
    ((500, 3), (3,)),
    ((0, 3), (3, 2)),
    ((3, 0), (0, 2)),
    ((2, 3, 4), (4, 2)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (1, 4, 5)),
    ((4, 2, 3, 4), (2, 4, 5)),
    ((4, 1, 3, 4), (2, 4, 1)),
    ((4, 2, 1, 4), (4, 2, 4, 3)),
    ((2, 3, 4), (4,)),
    ((4,), (3, 4, 2)),
    ((2, 2, 2, 3, 4), (2, 2, 2, 4, 3)),
    ((2, 3, 4), (3, 4, 2)),
    ((0, 3, 4), (4, 2)),
]
SMALL = [shapes for shapes in SHAPES if 0 not in (*shapes[0], *shapes[1])]


@pytest.mark.parametrize("code", "?bBhHiIlLqQefdgFDG")
def test_matmul_dtypes(code: str) -> None:
    products(SHAPES, lambda a: (a * 3).astype(code))


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fortran": np.asfortranarray,
    "reversed": lambda a: a[::-1],
    "every other": lambda a: (
        np.repeat(np.repeat(a, 2, axis=0), 2, axis=-1)[::2, ::2]
        if a.ndim == 2
        else np.repeat(a, 2, -1)[..., ::2]
    ),
    "misaligned": misaligned,
    "axes exchanged": lambda a: np.ascontiguousarray(np.swapaxes(a, 0, -1)).swapaxes(0, -1),
    "outer axes exchanged": lambda a: (
        np.ascontiguousarray(np.swapaxes(a, 0, 1)).swapaxes(0, 1) if a.ndim > 1 else a
    ),
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
    "read-only": lambda a: np.broadcast_to(a, a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_matmul_layouts(layout: str) -> None:
    products(SMALL, LAYOUTS[layout])


def test_matmul_is_done_without_frames() -> None:
    source = "def f(a, b):\n    for _ in range(40):\n        b = step(a, b)\n    return b"
    space: dict[str, Any] = {"np": np}
    exec("def step(a, b):\n    c = a @ b\n    d = c * 0.5 + 1.0\n    return d - b * 0.25", space)  # noqa: S102
    FusionRuns.begin()
    eager, function = both(source, step=space["step"])
    for _ in range(WARM_UP):
        check(eager, function, lambda: [doubles(5, 5) / 10, doubles(5)])
    groups = groups_run()
    check(eager, function, lambda: [doubles(5, 5) / 10, doubles(5)])
    assert groups_run() - groups >= 40


def test_a_real_frame_returns_in_a_group() -> None:
    """The callee's frame is real, because code of the program has run in it; its end is part of the group."""
    space: dict[str, Any] = {"np": np, "seen": []}
    exec(  # noqa: S102
        "def step(a, b):\n    c = a * 2.0\n    seen.append(len(sorted([3, 1, 2], key=lambda x: -x)))\n"
        "    d = c * 0.5 + b\n    return d - b * 0.25",
        space,
    )
    FusionRuns.begin()
    eager, function = both(
        "def f(a, b):\n    for _ in range(40):\n        b = step(a, b)\n    return b", step=space["step"]
    )
    for _ in range(WARM_UP):
        check(eager, function, lambda: [doubles(50), doubles(50)])
    assert tagalong.stats(function).hits >= 1
    space["seen"].clear()
    check(eager, function, lambda: [doubles(50), doubles(50)])
    assert len(space["seen"]) == 80


PLACES = (
    "a[[0, 2]]",
    "a[b > 0]",
    "a[np.array([1, 0, 1])]",
    "a[np.array([1, 0, 1]), None]",
    "a[..., np.array([True, False] * 5)]",
    "a[[1, 99]]",
    "a[b]",
    "a[[1.5]]",
    "a[np.array([])]",
    "a[np.array([1, 2], np.uint8)]",
)


@pytest.mark.parametrize("place", PLACES)
def test_places(place: str) -> None:
    """In an inlined function, elements at places are read and written without its frame."""
    for body in (
        f"return {place}",
        f"{place} = 5.0",
        f"{place} = {place}",
        f"{place} = 'x'",
        f"{place} += 1.0",
    ):
        space: dict[str, Any] = {"np": np}
        exec(f"def inner(a, b):\n    x = b * 2.0 + 1.0\n    {body}\n    return x - a", space)  # noqa: S102
        source = "for _ in range(3):\n        c = inner(a, b)\n    return c"
        direct_calls(source, lambda: [doubles(10), doubles(10) + 0.5], inner=space["inner"])


def test_functions_that_are_replaced() -> None:
    eager, function = traced("return np.roll(a, 1), np.zeros_like(b), a @ b")
    make: Maker = lambda: [doubles(10), doubles(10)]  # noqa: E731
    for _ in range(WARM_UP):
        check(eager, function, make)
    original = np.roll
    try:
        np.roll = lambda *operands: ("replaced", len(operands))
        for _ in range(WARM_UP):
            check(eager, function, make)
        np.roll = np.flip
        for _ in range(WARM_UP):
            check(eager, function, make)
    finally:
        np.roll = original
    for _ in range(WARM_UP):
        check(eager, function, make)


def test_a_python_function_that_is_changed() -> None:
    eager, function = traced("return np.ones(2), np.full(2, 3.0)")
    make: Maker = lambda: [None, None]  # noqa: E731
    for _ in range(WARM_UP):
        check(eager, function, make)
    code, defaults = np.ones.__code__, np.full.__defaults__
    try:
        np.ones.__code__ = (
            lambda shape, dtype=None, order="C", *, device=None, like=None: "changed"
        ).__code__
        np.full.__defaults__ = (np.int8, "C")
        for _ in range(WARM_UP):
            check(eager, function, make)
    finally:
        np.ones.__code__, np.full.__defaults__ = code, defaults
    for _ in range(WARM_UP):
        check(eager, function, make)


def test_results_are_new_and_operands_stay() -> None:
    for call in (
        "np.copy(a)",
        "np.roll(a, 0)",
        "np.zeros_like(a)",
        "np.stack([a])",
        "np.hstack([a])",
        "np.cumsum(a)",
    ):
        direct_calls(f"r = {call}\n    r[0] = 99.0\n    return r, a", lambda: [doubles(10), doubles(10)])


def test_out_and_other_arguments_are_left_to_numpy() -> None:
    for call in (
        "np.dot(a, a[:, None], out=b[:1])",
        "np.dot(a[None], b)",
        "np.vdot(a, b)",
        "np.copyto(z := np.zeros(3, complex), np.array(2 + 1j)), z",
        "np.copyto(z := np.zeros(3, np.longdouble), np.array(2, np.longdouble)), z",
        "np.copyto(z := np.zeros(3, np.int16), np.array(2, np.int16)), z",
        "np.ones([3])",
        "np.ones(3, np.float32)",
        "np.ones((2, 3), order='F')",
        "np.full(3, a[0])",
        "np.full(3, 2.5, int)",
        "np.full(3, np.array(2.5))",
        "np.full(3, 1j)",
        "np.full(3, 2**70)",
        "np.clip(a, None, 1.0)",
        "np.clip(a, 0, 1)",
        "np.clip(a, np.nan, 1.0)",
        "np.clip(a, a_min=0.0, a_max=1.0, out=b)",
        "np.empty(3, None, 'F').shape",
        "np.zeros((3, 4), np.float64, 'F')",
        "np.argmax(a[None], axis=1)",
        "np.cumsum(a, out=b)",
        "np.cumsum(a, dtype=np.float32)",
        "np.stack([a, b], out=np.zeros((2, 10)))",
        "np.concatenate([a, b], out=np.zeros(20))",
        "np.concatenate([a, b], dtype=np.float32)",
        "np.diff(a, prepend=0.0)",
        "np.diff(a, 2)",
        "np.std(a, keepdims=True)",
        "np.zeros_like(a, dtype=np.int8)",
        "np.zeros_like(a, shape=(3, 3))",
        "np.roll(a, (1, 2), (0, 0))",
        "np.array([1, 2], dtype=np.float32)",
        "np.array([300]).astype(np.uint8)",
        "np.array([a, b], copy=True)",
        "np.matmul(a, b, out=np.zeros(()))",
    ):
        direct_calls(f"return {call}, b", lambda: [doubles(10), doubles(10)])


CONVERTED: dict[str, tuple[str, Any, Any]] = {
    "a number that single precision does not hold": (
        "np.where(a == a, a, b)",
        np.arange(3, dtype="c8"),
        1e300,
    ),
    "a number that is too small for it": ("np.where(a == a, a, b)", np.arange(3, dtype="f4"), 1e-320),
    "a signalling NaN that is sorted": (
        "np.searchsorted(b, a)",
        np.arange(3.0),
        np.array([0x7F800001, 0], "u4").view("f4"),
    ),
    "a signalling NaN that is joined": (
        "np.concatenate((a, b))",
        np.arange(3.0),
        np.array([0x7F800001, 0], "u4").view("f4"),
    ),
    "half precision": ("np.where(a == a, a, b)", np.arange(3, dtype="f2"), 70000),
}


@pytest.mark.parametrize("errors", ["warn", "call", "raise"])
@pytest.mark.parametrize("what", CONVERTED)
def test_conversions_are_reported_once_and_where_they_are(what: str, errors: Any) -> None:
    source, a, b = CONVERTED[what]
    eager, traced = both(f"def f(a, b):\n    k = a * 1\n    r = {source}\n    return r, k\n")
    plain = b if isinstance(b, np.ndarray) else 1
    plain = np.arange(2, dtype="f4") if isinstance(b, np.ndarray) else plain
    for _ in range(6):
        check(eager, traced, lambda: [a, plain], {"all": errors})
    for _ in range(3):
        check(eager, traced, lambda: [a, b], {"all": errors})
