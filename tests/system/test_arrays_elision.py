"""Temporary elision outside of the kernels: NumPy computes into large operands without other references.

That shows in strides, in the dtype and, for some numbers, in bits. The tests are about dtypes that the kernels leave to
the general functions, and C functions that apply operators.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import operator
import sys
from typing import Any

import numpy as np
import pytest

import tagalong
from chains_support import both, check
from tagalong import _core

SIDE = 260  # squared and times four bytes: large enough for elision


class Float(float):
    """A number type that only the general functions accept."""


def seen(code: str, layout: int, *, swapped: bool) -> np.ndarray:
    with np.errstate(over="ignore"):
        array = np.arange(SIDE * SIDE).reshape(SIDE, SIDE).astype(code)
    if swapped:
        array = array.astype(array.dtype.newbyteorder())
    return (array, array.T, np.asfortranarray(array)[::-1])[layout]


def compare(source: str, code: str) -> None:
    names = {"operator": operator, "functools": functools, "math": math, "Float": Float}
    eager, traced = both(f"def f(x, y, w):\n    return {source}\n", **names)
    for one, other in itertools.product(range(3), repeat=2):

        def make(one: int = one, other: int = other) -> list[Any]:
            return [
                seen(code, one, swapped=False),
                seen(code, other, swapped=False),
                seen(code, other, swapped=True),
            ]

        for _ in range(3):
            check(eager, traced, make, {"all": "ignore"})
    assert tagalong.stats(traced).hits > 0


@pytest.mark.parametrize("code", "dfDelQ")
@pytest.mark.parametrize(
    "source",
    [
        "(x * 2) + w",
        "w + (x * 2)",
        "x.astype(x.dtype.newbyteorder()) + x",
        "x.astype(x.dtype.newbyteorder()) * 2",
        "np.positive(w * w) * 2 + y",
        "(x * 2) - w",
        "(w - 1) * y",
        "w.copy() / 2",
        "-(w.T + 0) + x",
        "(x * 2) + w[:, ::-1]",
        "-w.copy()",
        "abs(w.copy())",
        "w.copy() ** 2",
        "(x * 2) + Float(3)",
    ],
)
def test_arrays_of_another_byte_order(source: str, code: str) -> None:
    compare(source, code)


@pytest.mark.parametrize("code", "dDl")
@pytest.mark.parametrize(
    "source",
    [
        "abs(x - y)",
        "pow(w.copy(), 2)",
        "operator.add(x * 2, y)",
        "operator.add(y, x * 2)",
        "operator.add(x, y)",
        "operator.neg(w.copy())",
        "[v := x * 2, operator.add(v, y), v]",
        "sum([x * 2, w, y])",
        "sum((y * 1, x))",
        "sum([x, y], w)",
        "sum([x * 2, w, y], start=0)",
        "sum([x, y], start=w)",
        "sum((k * 1 for k in [x, w, y]), start=0)",
        "math.prod([x, w, y], start=1)",
        "sum(k for k in [x, w, y])",
        "functools.reduce(operator.mul, [x, y, x * 2])",
        "functools.reduce(lambda p, q: p + q, [w, y, x * 2])",
        "math.prod([x, w.copy(), y])",
    ],
)
def test_c_functions_that_apply_operators(source: str, code: str) -> None:
    compare(source if not source.startswith("[") else f"tuple({source})", code)


class Holder:
    """An object with an attribute."""

    def __init__(self, held: Any) -> None:
        self.held = held


# NumPy looks at most ten frames up the C stack. So in longer chains of iterators it depends on specialised instructions
# whether eager execution computes into an operand; these are left out.
FORMS = [
    "x * 1 + w",
    "[x * 1][0] + w",
    "{1: x * 1}[1] + w",
    "(held := [x * 1])[0] + w",
    "(held := {1: x * 1})[1] + w",
    "(held := (x * 1,))[0] + w",
    "(held := Holder(x * 1)).held + w",
    "Holder(x * 1).held + w",
    "(held := [x * 1]).pop() + w",
    "(held := iter([x * 1])).__next__() + w",
    "-(held := [x * 1])[0] + w",
    "abs((held := [x * 1])[0]) + w",
    "w - (held := Holder(x * 1)).held * 2",
    "(lambda k: k + w)(x * 1)",
    "(lambda: x * 1)() + w",
    "next(k for k in [x * 1]) + w",
    "next(k * 1 for k in [x]) + w",
    "sum(k * 1 for k in [x, w])",
    "sum([k * 1 for k in [x, w]])",
    "sum((k for k in [w]), x * 1)",
    "sum([w], **{'start': x * 1})",
    "sum({1: x * 1, 2: w}.values())",
    "operator.add(*(x * 1, w))",
    "operator.iadd(x * 1, w)",
    "operator.methodcaller('__add__', w)(x * 1)",
    "functools.partial(operator.add, x * 1)(w)",
    "functools.partial(operator.add, x * 1, w)()",
    "functools.partial(functools.partial(operator.add, x * 1), w)()",
    "functools.reduce(operator.add, [w], x * 1)",
    "functools.reduce(operator.add, (k * 1 for k in [x, w]))",
    "next(itertools.starmap(operator.add, iter([(x * 1, w)])))",
    "list(itertools.starmap(operator.add, [(x * 1, w)]))[0]",
    "[k for k in itertools.starmap(operator.add, iter([(x * 1, w)]))][0]",
    "next(map(operator.add, (k * 1 for k in [x]), [w]))",
    "[k for k in map(operator.add, (k * 1 for k in [x]), [w])][0]",
    "[*map(operator.add, (k * 1 for k in [x]), [w])][0]",
    "(lambda k: k)(*map(operator.add, (k * 1 for k in [x]), [w]))",
    "[k for k, _ in zip(map(operator.add, (k * 1 for k in [x]), [w]), 'a')][0]",
    "list(itertools.accumulate(k * 1 for k in [x, w]))[-1]",
    "list(itertools.accumulate((k * 1 for k in [x, w]), operator.mul))[-1]",
    "[k for k in itertools.accumulate(k * 1 for k in [x, w])][-1]",
    "(x // x) & np.positive(w)",
]
RECORDED = {
    "as they come": None,
    "floats": (2.0, 3.0),
    "ints": (2, 3),
    "NumPy's numbers": (np.int64(2), np.int64(3)),
    "no axes": (np.array(True), np.array(True)),
}


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("source", FORMS)
def test_operands_with_other_references(source: str, recorded: str) -> None:
    """An operand without other references is computed into, whatever references there were while recording."""
    names = {"operator": operator, "functools": functools, "itertools": itertools, "Holder": Holder}
    eager, traced = both(f"def f(x, w):\n    return {source}\n", **names)
    x, w = RECORDED[recorded] or (None, None)
    if recorded != "as they come":
        for _ in range(2):
            with contextlib.suppress(TypeError):
                traced(x, w)
    for code, other in ("dd", "DD", "qq", "ql", "lq"):

        def make(code: str = code, other: str = other) -> list[Any]:
            return [np.asfortranarray(seen(code, 0, swapped=False)) % 97 + 1, seen(other, 0, swapped=False)]

        if code == "D":
            make = functools.partial(
                lambda made: [k.real.astype("D") for k in made()], functools.partial(make, "d")
            )
        for _ in range(2):
            check(eager, traced, make, {"all": "ignore"})


def test_their_frames_are_invisible() -> None:
    looks: list[Any] = []

    def look(left: Any, right: Any) -> Any:
        frame = sys._getframe(1)
        looks.append((frame.f_code.co_name, frame.f_lineno, right))
        if right is None:
            raise ValueError("none")
        return left + right

    def f(first: Any, last: Any) -> Any:
        return functools.reduce(look, [first * 2, first, last])

    traced = tagalong.trace(f)
    x = np.ones((SIDE, SIDE))
    for _ in range(4):
        np.testing.assert_array_equal(traced(x, x), x * 4)
    assert len({look[:2] for look in looks}) == 1
    assert looks[0][0] == "f"
    for _ in range(3):
        with pytest.raises(ValueError, match="none") as caught:
            traced(x, None)
        assert [entry.name for entry in caught.traceback][-2:] == ["f", "look"]
    assert tagalong.stats(traced).hits > 0


def test_quotients_of_bools_do_not_fit_a_temporary() -> None:
    """Eager execution computes into the large temporary, and raises."""
    eager, traced = both("def f(x, y):\n    return (x > y) // (x != y)\n")
    for size in (5, 300_000, 300_000, 5, 300_000, 300_000, 5):
        x = np.arange(size) % 7
        check(eager, traced, lambda x=x: [x, x[::-1].copy()], {"all": "ignore"})
    assert tagalong.stats(traced).records >= 1


REPLACED = {
    "an attribute": "    v = o.taken() + c\n    return 2.0 * v\n",
    "a variable": "    v = a * 1\n    w = v + (v := c * 2.0)\n    return 2.0 * w, v\n",
    "an attribute and a name": "    t = o.taken\n    v = t() + (c - b)\n    return v * 2.0\n",
    "in a loop": "    for k in range(30):\n        o.x = a * 1\n        v = 2.0 * (o.taken() + c)\n    return v\n",
    "a variable in a loop": (
        "    for k in range(30):\n        v = a * 1\n        w = 2.0 * (v + (v := c * 2.0))\n    return w, v\n"
    ),
}


@pytest.mark.parametrize("body", REPLACED.values(), ids=REPLACED.keys())
def test_operands_whose_attribute_or_variable_is_replaced(body: str) -> None:
    """They are temporaries from then on: eager computes into them, and the result has their layout."""
    _core.set_option("fusion", 2)
    eager, traced = both(
        "class Holder:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n"
        "    def taken(self):\n        x, self.x = self.x, self.y\n        return x\n"
        f"def f(a, b):\n    o = Holder(a * 1, b)\n    c = b + b\n{body}"
    )
    for shape in ((7, 5), (70, 1200)):
        a, b = np.asfortranarray(np.random.default_rng(1).uniform(size=shape)), np.ones(shape)
        for _ in range(5):
            check(eager, traced, lambda a=a, b=b: [a, b])


def with_payload(code: str, payload: int, count: int) -> np.ndarray:
    """Positive numbers; the first two are NaNs with a payload."""
    array = np.linspace(1, 2, count).astype(code)
    bits = array.view(f"u{array.itemsize}")
    bits[:2] = np.array([np.nan], dtype=code).view(bits.dtype) | payload
    return array


@pytest.mark.parametrize("overflows", [False, True], ids=["as one", "one by one"])
@pytest.mark.parametrize("codes", ["fd", "df", "dd", "ff", "ef", "ed", "ld"])
@pytest.mark.parametrize(
    "source",
    [
        "x * 2 + (y - z * y)",
        "(t := x * 2) + (y - z * y)",
        "(t := x * 2) * (y + z) + t",
        "t + (z * y)",
        "x + (z - y)",
    ],
)
def test_payloads_beside_an_operand_of_another_dtype(source: str, codes: str, *, overflows: bool) -> None:
    eager, traced = both(f"def f(x, y, z):\n    t = x\n    return {source}\n")

    def make() -> list[Any]:
        x = np.arange(SIDE * SIDE) if codes[0] == "l" else with_payload(codes[0], 7, SIDE * SIDE)
        y, z = with_payload(codes[1], 9, SIDE * SIDE), with_payload(codes[1], 11, SIDE * SIDE)
        if overflows:
            y[-1] = z[-1] = np.finfo(codes[1]).max
        return [x, y, z]

    for _ in range(4):
        check(eager, traced, make, {"all": "ignore"})
        check(eager, traced, make, {"all": "warn"})
    assert tagalong.stats(traced).hits > 0
