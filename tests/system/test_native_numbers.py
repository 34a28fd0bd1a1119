"""Machine code computes what CPython computes: every operator, on numbers where processors and Python differ."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import tagalong
from tagalong import _core

INTS = [
    0,
    1,
    -1,
    2,
    3,
    -3,
    7,
    8,
    63,
    64,
    -64,
    255,
    2**30 - 1,
    2**30,
    -(2**30),
    2**31,
    -(2**31),
    2**32,
    10**9 + 7,
]
INTS += [
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**62,
    -(2**62),
    2**63 - 1,
    -(2**63),
    2**63,
    -(2**63) - 1,
    2**64,
    10**30,
]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1e-320,
    -5e-324,
    1e308,
    -1e308,
    2.0**53,
    math.inf,
    -math.inf,
    math.nan,
    math.pi,
]
BINARY = ["+", "-", "*", "//", "%", "/", "&", "|", "^", "<<", ">>"]
COMPARED = ["<", "<=", "==", "!=", ">", ">="]
OF_FLOATS = ["+", "-", "*", "/", *COMPARED]

# One operation in a round, on items; if it raises, the exception is the result.
VALUES = """
def f(xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i]
        y = ys[i]
        try:
            out.append({expression})
        except (ZeroDivisionError, ValueError, OverflowError, MemoryError) as error:
            out.append(str(error))
    return out
"""
# The same with a constant as the other operand.
CONSTANT = """
def f(xs, ys):
    out = []
    for x in xs:
        z = x + 0
        out.append(z {operator} {constant})
    return out
"""
BRANCH = """
def f(xs, ys):
    out = []
    for i in range(len(xs)):
        if xs[i] {operator} ys[i]:
            out.append(i)
        else:
            out.append(-i)
    return out
"""
SMALL_SHIFTS = range(-1, 70)


def compare(source: str, xs: list[Any], ys: list[Any]) -> None:
    """Machine code was made meanwhile: once for the ordinary numbers in front, once for these."""
    eager: dict[str, Any] = {}
    names: dict[str, Any] = {}
    exec(source, eager)
    exec(source, names)
    settings = {"loops": 1, "heat": 2, "native_after": 4, "grow_after": 3, "retire_after": 0}
    usual = [3.5 if isinstance(x, float) else 5 for x in xs[:1]] * 20
    other = [2.5 if isinstance(y, float) else 3 for y in ys[:1]] * 20
    for name, value in settings.items():
        _core.set_option(name, value)
    function = tagalong.trace(names["f"])
    for left, right in ((usual + xs, other + ys), (xs, ys), (usual * 4 + xs, other * 4 + ys)):
        expected = [repr(each) for each in eager["f"](left, right)]
        assert [repr(each) for each in function(left, right)] == expected
    assert tagalong.stats(function).limits.get("native_after", 0) > 0


def pairs(left: list[Any], right: list[Any]) -> tuple[list[Any], list[Any]]:
    both = list(itertools.product(left, right))
    return [x for x, _ in both], [y for _, y in both]


@pytest.mark.parametrize("operator", BINARY)
def test_ints(operator: str) -> None:
    right = list(SMALL_SHIFTS) if operator in ("<<", ">>") else INTS
    compare(VALUES.format(expression=f"x {operator} y"), *pairs(INTS, right))


@pytest.mark.parametrize("operator", COMPARED)
@pytest.mark.parametrize("numbers", [INTS, FLOATS], ids=["ints", "floats"])
def test_comparisons(operator: str, numbers: list[Any]) -> None:
    compare(VALUES.format(expression=f"x {operator} y"), *pairs(numbers, numbers))
    compare(BRANCH.format(operator=operator), *pairs(numbers, numbers))


@pytest.mark.parametrize("operator", OF_FLOATS)
def test_floats(operator: str) -> None:
    compare(VALUES.format(expression=f"x {operator} y"), *pairs(FLOATS, FLOATS))


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_mixed(operator: str) -> None:
    small = [each for each in INTS if abs(each) < 2**63]
    compare(VALUES.format(expression=f"x {operator} y"), *pairs(small, FLOATS))
    compare(VALUES.format(expression=f"x {operator} y"), *pairs(FLOATS, small))


@pytest.mark.parametrize("constant", [1, 2, 7, 8, 1024, 2**30, 2**31 - 1, -1, -2, -7, 3, 63])
@pytest.mark.parametrize("operator", BINARY)
def test_constants(operator: str, constant: int) -> None:
    if operator in ("<<", ">>") and not 0 <= constant < 64:
        return
    compare(CONSTANT.format(operator=operator, constant=f"({constant})"), INTS, INTS)


@pytest.mark.parametrize("expression", ["-x", "not x", "x if x else y", "(x * y) % 1000", "-(x + y) * x"])
@pytest.mark.parametrize("numbers", [INTS, FLOATS], ids=["ints", "floats"])
def test_others(expression: str, numbers: list[Any]) -> None:
    compare(VALUES.format(expression=expression), *pairs(numbers, numbers))


def test_bools() -> None:
    bools = [True, False, True, True, False]
    compare(VALUES.format(expression="x and not y"), *pairs(bools, bools))
    compare(VALUES.format(expression="(x, not x) if x == y else y"), *pairs(bools, bools))
