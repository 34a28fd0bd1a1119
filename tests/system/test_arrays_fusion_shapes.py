"""Fusion groups over arrays that are broadcast, strided, cast, or written in place, against eager NumPy."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from itertools import chain, product
from random import Random
from typing import Any

import numpy as np
import pytest

import tagalong
from array_programs import CODES, Operands
from arrays_support import ERRSTATES, sample
from chains_support import FusionRuns, both, check, compare_program, groups_run
from tagalong import _core


@pytest.fixture(autouse=True)
def fusion() -> None:
    """Enables the engine's option, which is off."""
    FusionRuns.begin()


def line(*shape: int, order: Any = "C", code: str = "d") -> np.ndarray:
    return np.array(np.linspace(1, 2, int(np.prod(shape))).reshape(shape).astype(code), order=order)


# body, operands x and y, number of fusion groups
FORMS: dict[str, tuple[str, Callable[[], list[Any]], int]] = {
    "two dtypes": ("return (x * y + x) * 2", lambda: [line(30, code="f"), line(30)], 1),
    "an int": ("return x * y - y", lambda: [np.arange(30), line(30)], 1),
    "a row": ("return (x - y) * x + y", lambda: [line(20, 30), line(30)], 1),
    "a column": ("return (x - y) * x + y", lambda: [line(20, 30), line(20, 1)], 1),
    "both": ("return np.sqrt((x - y) ** 2 + 1.0)", lambda: [line(20, 1), line(30)], 1),
    "long rows": ("return (x - y) * x + y", lambda: [line(5, 3000), line(3000)], 1),
    "orders": ("return (x * y + x) * y, x - y", lambda: [line(20, 30, order="F"), line(20, 30)], 1),
    "transposed": ("return (x.T * y + x.T) * y", lambda: [line(30, 20), line(20, 30)], 1),
    "reversed": ("return (x * y + x) * y", lambda: [line(30, 20)[::-1, ::-1], line(30, 20)], 1),
    "strided": ("return (x * y + x) * y", lambda: [line(30, 40)[:, ::2], line(30, 20)], 1),
    "three axes": ("return (x * y + x) * y", lambda: [line(30, 40, 50)[:, :, ::2], line(40, 25)], 1),
    "in place": ("x += y * 2.0\n    return x", lambda: [line(30), line(30)], 1),
    "in place twice": ("x += y * 2.0\n    x *= y", lambda: [line(3000), line(3000)], 1),
    "in place, then read": (
        "x += y * 2.0\n    x *= y\n    z = x + 1.0\n    return z * y",
        lambda: [line(300, 400), line(300, 400, order="F")],
        1,
    ),
    "a slice": ("x[1:-1] = y[1:-1] * 2.0 + y[2:]", lambda: [line(3000), line(3000)], 1),
    "a slice, cast": ("x[1:-1] = y[1:-1] * 2 + y[2:]", lambda: [line(50), line(50, code="f")], 1),
    "a stencil": (
        "x[1:-1, 1:-1] = 0.25 * (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:])",
        lambda: [line(60, 70), line(60, 70)],
        1,
    ),
    "a stencil onto itself": (
        "x[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])",
        lambda: [line(60, 700), line(1)],
        1,
    ),
    "large temporaries": (
        "return (x * y) + (x - y), y + (x * 2)",
        lambda: [line(300, 400), line(300, 400).T[::-1].T],
        1,
    ),
    "where": ("return np.where(x > y, x * 2.0, y - 1.0)", lambda: [line(30), line(30)[::-1]], 1),
    "where, a number": (
        "m = x > 1.5\n    return np.where(m, x * y, 0.0) + 1",
        lambda: [line(20, 30), line(30)],
        1,
    ),
    "clip": ("return np.clip(x * y - 1.0, 0.0, 1.0) * 2", lambda: [line(20, 30, order="F"), line(30)], 1),
    "clip method": ("return (x * y).clip(x, 2)", lambda: [np.arange(30), np.arange(30)], 1),
    "out": (
        "z = x * y\n    np.add(z, 1.0, out=y)\n    return y * z",
        lambda: [line(20, 30), line(20, 30)],
        1,
    ),
    "out, in place": (
        "z = x * y\n    r = np.add(z, 1.0, out=z)\n    return r is z, np.sqrt(z)",
        lambda: [line(20, 30), line(20, 30, order="F")],
        1,
    ),
    "out, another order": (
        "np.add(x * 2, 1.0, out=y)\n    return y * x",
        lambda: [line(20, 30), line(30, 20).T],
        1,
    ),
    "a reversed sum": ("x += y\n    return x.sum()", lambda: [line(3000)[::-1], line(3000)], 0),
    "results in two orders": (
        "return x + y, np.isfinite(x) & (x < 1.5), x - 1.0",
        lambda: [line(70, 520, order="F"), line(70, 520)],
        1,
    ),
    "axes of length one": (
        "a = x * y\n    return (a < x) * a, a - 1, np.positive(y * 2) * x",
        lambda: [line(4, 1, 2).T, line(2, 1, 4)[::-1]],
        1,
    ),
    "twins": (
        "a = x ** 3\n    return a, (a - x) * y",
        lambda: [line(2, 1, 4, order="F", code="Q"), line(2, 1, 4, order="F", code="Q")],
        1,
    ),
    # A written array is read again through another array; the result is as if nothing were fused.
    "written, then read": ("x += y * 2.0\n    return y * 2.0 + x", lambda: two_views(line(30)), 2),
    "written in part": ("x[1:] = y[1:] * 2.0\n    return y * 2.0 + 1.0", lambda: two_views(line(30)), 2),
    "an expanded target": (
        "x += y * 2.0\n    return x",
        lambda: [np.lib.stride_tricks.as_strided(line(8), (4, 3), (8, 8)), line(4, 3)],
        0,
    ),
}


def two_views(array: np.ndarray) -> list[Any]:
    return [array[1:], array[:-1]]


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    body, make, wanted = FORMS[name]
    eager, traced = both(f"def f(x, y):\n    {body}\n")
    for _ in range(6):
        check(eager, traced, make)
    before = groups_run()
    check(eager, traced, make)
    assert groups_run() - before == wanted, tagalong.explain(traced)


SUBSCRIPTS = ("0", "-1", "3", "None", "...", "1:", "::2", "::-1", "i")


@pytest.mark.parametrize("first", SUBSCRIPTS)
def test_subscripts(first: str) -> None:
    """All kinds, up to three together, constant or not, read and written; parts with dimensions are fused."""
    for others in chain.from_iterable(product(SUBSCRIPTS, repeat=count) for count in range(3)):
        key = ", ".join((first, *others))
        for body in (f"return x[{key}] * 2.0 + x[{key}]", f"x[{key}] = y[{key}] * 2.0 + 1.0"):
            eager, traced = both(f"def f(x, y, i):\n    {body}\n")

            def make() -> list[Any]:
                return [line(3, 4), line(3, 4)[::-1], 1]

            for _ in range(3):
                check(eager, traced, make)
            before = groups_run()
            check(eager, traced, make)
            try:
                has_dims = np.ndim(eval(f"x[{key}]", {"x": line(3, 4), "i": 1})) > 0  # noqa: S307
            except IndexError:
                has_dims = False
            if has_dims:
                assert groups_run() == before + 1, (body, tagalong.explain(traced))


@pytest.mark.parametrize("fused", [0, 2])
@pytest.mark.parametrize("orders", ["FFC", "CCF", "CFF", "FCC", "CFC"])
def test_layouts_of_large_temporaries(fused: int, orders: str) -> None:
    """Eager execution computes into a temporary, so the result has its layout and not that of a new array."""
    _core.set_option("fusion", fused)
    eager, traced = both("def f(x, y, z):\n    return (x - y) - (y * z), (x * z) + (x + y), -(x * z) / y\n")
    for code in "dlf":
        for _ in range(4):
            check(eager, traced, lambda code=code: [line(300, 400, order=o, code=code) for o in orders])


@pytest.mark.parametrize("fused", [0, 2])
@pytest.mark.parametrize(
    "body", ["(np.multiply(n, x) - y) + (x > y)", "(x.astype('q') - y) + y, -x.astype('q') * 2"]
)
def test_axes_of_length_one_in_large_temporaries(fused: int, body: str) -> None:
    """Their strides mean nothing but are visible: the result has those of the temporary into which eager computes."""
    _core.set_option("fusion", fused)
    for axis in range(3):
        for codes in ("bb", "bq", "qq"):
            eager, traced = both(f"def f(x, y, n):\n    return {body}\n")

            def make(axis: int = axis, codes: str = codes) -> list[Any]:
                arrays = [np.expand_dims(line(520, 70, code=code).T, axis) for code in codes]
                return [*arrays, np.int64(3)]

            for _ in range(5):
                check(eager, traced, make, {"all": "ignore"})


@pytest.mark.parametrize("fused", [0, 2])
@pytest.mark.parametrize("shape", [(50_000,), (200, 300)])
def test_twins_in_large_temporaries(fused: int, shape: tuple[int, ...]) -> None:
    """Two dtypes are the same integers; eager execution keeps the dtype of the temporary into which it computes."""
    _core.set_option("fusion", fused)
    eager, traced = both("def f(x, y):\n    return np.square(x) // (y < x), (x * x) + y, (y + 1) + (x - x)\n")
    for codes in ("qq", "ql", "lq", "q?", "qi", "QL", "LQ"):
        for _ in range(4):
            check(eager, traced, lambda codes=codes: [line(*shape, code=c) for c in codes], {"all": "ignore"})


@pytest.mark.parametrize("fused", [0, 2])
@pytest.mark.parametrize(
    "number", [True, 3, np.bool_(True), np.int8(3), np.int64(3), np.longlong(3)], ids=repr
)
def test_twins_and_scalars(fused: int, number: Any) -> None:
    _core.set_option("fusion", fused)
    eager, traced = both("def f(x, n):\n    return (x ^ x) & n, (x + x) // n, n + (x - x), (x * x) << n\n")
    for code in "qlQL":
        for _ in range(4):
            check(eager, traced, lambda code=code: [line(70, 520, code=code), number], {"all": "ignore"})


@pytest.mark.parametrize("fused", [0, 2])
@pytest.mark.parametrize("count", [10, 3000])
def test_flags_from_before(fused: int, count: int) -> None:
    """Overflow and underflow flags that C code (such as libm) set before do not come from the array operations."""
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    _core.set_option("fusion", fused)
    eager, traced = both("def f(x):\n    return (x - x) * 2.0\n")

    def make() -> list[Any]:
        libm.feraiseexcept(8 | 16)  # FE_OVERFLOW and FE_UNDERFLOW of x86-64
        return [np.full(count, np.inf)]

    for _ in range(5):
        check(eager, traced, make, {"all": "call"})


SINGLES = ["x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "-x", "abs(x) + y", "np.maximum(x, y)"]
SINGLES += [
    "np.minimum(x, y)",
    "np.fmax(x, y)",
    "np.fmin(x, y)",
    "np.add(x, y, out=x)",
    "(x + y) * y",
    "y * (x - y)",
]


@pytest.mark.parametrize("fused", [0, 2])
@pytest.mark.parametrize("code", ["d", "f", "D", "e", "g"])
def test_single_elements(fused: int, code: str) -> None:
    """NumPy takes one element for a reduction where it is computed into an operand, which decides which NaN results."""
    _core.set_option("fusion", fused)
    statements = "".join(
        f"    r.append({each})\n" for each in SINGLES if not (code == "D" and ("//" in each or "%" in each))
    )
    eager, traced = both(
        f"def f(x, y):\n    r = []\n{statements}    x += y\n    x *= x\n    y -= x\n    return (*r,)\n"
    )
    values = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5]
    for shape in ((1,), (1, 1), ()):
        for x in values:
            for y in values:
                for _ in range(2):
                    make = lambda x=x, y=y, shape=shape: [np.full(shape, v, code) for v in (x, y)]  # noqa: E731
                    check(eager, traced, make, {"all": "ignore"})


def test_read_only_targets() -> None:
    """Eager execution's exception, after the effects in front of it."""
    eager, traced = both("def f(x, y):\n    y *= 2.0\n    z = y + 1.0\n    x += z * y\n    return x\n")

    def make(writeable: bool = True) -> list[Any]:
        made = [line(9), line(9)]
        made[0].flags.writeable = writeable
        return made

    for _ in range(5):
        check(eager, traced, make)
    for _ in range(3):
        check(eager, traced, lambda: make(False))


def test_errors_leave_targets_alone() -> None:
    """If a floating point error is found, nothing is written; the operations report it one by one."""
    eager, traced = both("def f(x, y):\n    x *= 2.0\n    z = x / y\n    x += z\n    return z\n")
    for size in (5, 5000):
        for _ in range(5):
            check(eager, traced, lambda size=size: [line(size), line(size)])
        for errors in ("warn", "raise", "ignore"):
            for _ in range(3):
                check(
                    eager,
                    traced,
                    lambda size=size: [line(size), np.append(line(size - 1), 0)],
                    {"all": errors},
                )


SAFE = [
    (one, other)
    for one in CODES
    for other in CODES
    if np.can_cast(one, other) and np.dtype(one) != np.dtype(other)
]


@pytest.mark.parametrize("kind", ["ordinary", "extreme", "bits"])
def test_casts(kind: str) -> None:
    """Each cast of an operand for a loop, for contiguous and strided operands."""
    for one, other in SAFE:
        symbol = "&" if other in "?bBhHiIlLqQ" else "*"
        eager, traced = both(f"def f(x, y):\n    return (x {symbol} y) {symbol} x\n")
        narrow, wide = sample(one, (2100,), kind), sample(other, (2100,), "ordinary")
        if np.dtype(other).kind != np.result_type(one, other).kind:
            continue
        for step in (1, 1, 1, 1, 2):
            before = groups_run()
            check(eager, traced, lambda n=narrow, w=wide, s=step: [n[::s], w[::s]], {"all": "ignore"})
        assert groups_run() > before, (one, other, tagalong.explain(traced))


def test_layouts_of_results() -> None:
    """NumPy's iterator decides on the order of a result's axes; so must fusion groups."""
    random = Random("layouts")
    eager, traced = both("def f(x, y, z, s, n):\n    a = x * y\n    return a, a - z, (y + z) * a\n")
    before = groups_run()
    for _ in range(600):
        make = Operands(random, "d")
        if random.random() < 0.8:
            make.special = ""
        check(eager, traced, make, {"all": "ignore"})
    assert groups_run() - before > 200


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    """Operands of all dtypes and layouts, broadcast, cast, overlapping; results in new arrays and in operands."""
    random = Random(f"programs {seed}")
    before = groups_run()
    for _ in range(25):
        compare_program(random, 8)
    assert groups_run() - before > 20


TARGETS = (
    "np.float32",
    "np.float64",
    "np.int8",
    "np.uint8",
    "np.int16",
    "np.uint32",
    "np.int64",
    "np.uint64",
)


@pytest.mark.parametrize("to", [*TARGETS, "np.bool_", "float", "bool"])
def test_astype(to: str) -> None:
    """Each cast of a result and of an operand, in every layout; values that do not fit are left to NumPy."""
    random = Random(f"astype {to}")
    for code in CODES:
        eager, traced = both(
            f"def f(x, y):\n    z = (x * y).astype({to})\n    return z + y.astype({to}), z\n"
        )
        for shape, order in (((9,), "C"), ((3000,), "C"), ((3, 4), "C"), ((3, 4, 2), "F"), ((2, 1, 5), "C")):
            ordinary = [np.array(sample(code, shape, "ordinary"), order=order) for _ in range(2)]
            small = [one % 3 if code in "fd" else one for one in ordinary]
            before = groups_run()
            for _ in range(5):
                check(eager, traced, lambda small=small: [small[0], small[1]], {"all": "ignore"})
            assert groups_run() > before or code == "?", tagalong.explain(traced)
        for _ in range(6):
            kind = random.choice(("extreme", "bits"))
            made = [sample(code, (7, 3), kind).T for _ in range(2)]
            check(eager, traced, lambda made=made: made, random.choice(ERRSTATES))


def test_assigning_casts() -> None:
    """Assigning to a slice casts a result to another dtype."""
    for code in CODES:
        for other in CODES:
            eager, traced = both("def f(x, y, z):\n    z[1:] = x * y + x\n    return z\n")
            for call in range(5):
                kind = "ordinary" if call < 4 else "extreme"
                made = [sample(code, (8,), kind), sample(code, (8,), kind), sample(other, (9,), "ordinary")]
                check(eager, traced, lambda made=made: [one.copy() for one in made], {"all": "warn"})


def test_a_fusion_group_begins_with_parts() -> None:
    """Parts are operands of the first operation, too: no array objects are made for them."""
    eager, traced = both("def f(x, n):\n    return (x[n:] - x[:-n]) * 0.5 + x[1]\n")
    for size in (9, 3000):
        for _ in range(6):
            check(eager, traced, lambda size=size: [line(size), 1])
    assert groups_run() >= 6


MASKED = {
    "guarded quotient": "np.divide(x, y, out=z, where=y != 0)\n    return z * 2",
    "of a result": "a = x * y\n    np.sqrt(a, out=a, where=a >= 0)\n    return a + 1",
    "broadcast mask": "z = z * 1.5\n    np.add(x, y, where=m[:1], out=z)\n    return z - x",
    "twice": "m = x < y\n    np.square(x, out=z, where=x > 0)\n    np.add(z, y, out=z, where=m)\n    return z",
    "itself": "np.subtract(z, x, out=z, where=z > x)\n    np.maximum(z, y, out=z)\n    return z * x",
    "a given mask": "np.add(x * 2, y, out=z, where=m)\n    return z / 2",
}


@pytest.mark.parametrize("name", MASKED)
def test_where_of_ufuncs(name: str) -> None:
    """Elements that `where` excludes keep their values and raise nothing."""
    random = Random(f"where {name}")
    eager, traced = both(f"def f(x, y, z, m):\n    {MASKED[name]}\n")
    before = groups_run()
    for call in range(60):
        code = random.choice("ddf") if call > 6 else "d"
        shape = random.choice(((9,), (3000,), (3, 5), (40, 70)))
        kind = "ordinary" if call < 7 else random.choice(("ordinary", "extreme"))
        made = [sample(code, shape, kind) for _ in range(3)]
        made[1][..., ::3] = 0
        mask = sample("?", shape, "ordinary")
        errstate = {"all": "warn"} if call < 7 else random.choice(ERRSTATES)
        check(eager, traced, lambda made=made, mask=mask: [*(one.copy() for one in made), mask], errstate)
    assert groups_run() > before + 4, tagalong.explain(traced)
